"""A shuffler: a process between devices and their server, run by somebody else, that forgets who sent which report.

Devices use it as they use a server. It issues the permits, with a key of its own, takes the reports, and passes them on
in batches: of at least n reports that answer the same model through the same gate, in random order, under names that it
has just drawn. docs/shuffler.md says how to run one.

**The claim.** Let a batch have m reports of honest devices, each made private at the pure epsilon of its gate. To the
server, and to whoever works with it, one of them is (epsilon', delta)-private, epsilon' =
`lab.shuffling.shuffled_epsilon(epsilon, m, delta)`: replace the data behind that report by any other data, and the law
of everything that the server ever sees changes by no more. It holds if whoever runs the shuffler does not work with
the server. If they do, the promise is the one of the device, epsilon, which needs nobody's honesty.

**What the server sees** is, of each batch, the time it came, the version and the gate, and of each report a name, the
coin and the payload. Let it know also who is in the batch, and the data of everybody but one.

*Proof.* (1) Names are drawn by the operating system when the batch is made, and the batch is sorted by them. So names
tell nothing, and the order is uniformly random and independent of all else: what is left is the multiset of
(coin, payload). (2) A coin is the SHA-256 of a permit and a nonce. The nonce, which the device drew, is random, and the
server sees neither permit nor nonce. So to the server the coins of honest devices are independent draws of one law,
the same for everybody, and (coin, payload) is one draw of a randomiser R(x) = (c, P_c(x)), the same for all reports of
the group: the model and the gate decide it. Each P_c is epsilon-private, so R is. (The hash is taken for a random
function, as everywhere in the protocol.) (3) All reports of a batch answer one model, which was published before any of
them was drawn: none depends on another. So the batch is the shuffled output of one fixed pure randomiser, and the
theorem in `lab.shuffling` applies, with the honest others as those who may be clones. Reports that the server has sent
itself, or knows, are no clones: they do not count. (4) Which batch a report is in, and when that leaves, depends on the
version, the gate, and on when and how many reports came, never on a payload. What the server publishes and receives
afterwards depends on this batch and on other people's data: post-processing.

*Several reports of one person.* Change them one at a time. Each step costs (epsilon', delta), whether they lie in one
batch or in several, so k of them cost (k epsilon', delta (1 + e^epsilon' + ... + e^((k - 1) epsilon'))) at most. It is
never more than k epsilon, the limit that the device keeps.

What would break it, and is refused: a permit or ticket of the server that comes back (it knows to whom it gave that
coin); a task with tickets (the action in the ticket); a batch of reports to different models or through different gates
(each is a clue; a person may be alone with it); a holdout (reports of different purposes have different laws); a delta
(the theorem is about pure promises: such tasks may have a shuffler, and nothing is claimed for it).
"""
