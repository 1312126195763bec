"""The fixed sentences of a statement, by the name of what they are about. Tests compare the names with the code."""

MECHANISMS = {
    "levels": "Round at random to one of a few levels, then say the true level or, by chance, another.",
    "sphere": "Take a public list of random directions; name one near to yours more often than one far from it.",
    "gaussian": "Add bell-shaped noise, in whole steps of a fine grid.",
    "laplace": "Add double-exponential noise, in whole steps of a fine grid.",
}
"""As in docs/privacy.md, which has the proofs."""

COLUMNS = (
    ("odds", "by which factor the odds of any two things that may be true of the sender change at most."),
    ("even guess", "how often a guess between two equally likely things is right at most."),
    ("1 in 100", "how likely something becomes at most that was held for one in a hundred."),
)
"""Of the table of budgets."""

WIRE = {
    "permit": "what the report answers: bytes that the server signed, worth one report. The server can recognise it, "
    "and so know when and from which address it was fetched.",
    "ticket": "what the report answers: bytes that the server signed, worth one report, with the action that it "
    "offered. So the server knows which action was shown, when it was fetched and from which address.",
    "nonce": "random bytes of the device, which show that it asked for this permit. They say nothing about the person.",
    "version": "a hash of the model that the choice was made by, the same for everybody. It says between which two "
    "publications the decision was made.",
    "gate": "which of the budgets above was used. It is the setting of the device's owner.",
    "payload": "the private part: {size}, drawn at random on the device. Nothing else of a report depends on what the "
    "person is or did.",
}
"""What each field of a report is, for `wire.ModelReport` and `wire.TicketReport`."""

MIXED_WIRE = {
    "permit": "what the report answers: bytes that the shuffler signed, worth one report. The server never sees it.",
    "nonce": "random bytes of the device, which show that it asked for this permit. The server never sees them.",
}
"""In place of the above where there is a shuffler."""
MIXED_CONNECTION = {
    "network address": "every connection has one. The shuffler keeps addresses in memory for its limit of requests, "
    "and never writes them down; a proxy in front of it may.",
    "time": "a report leaves at the decision's deadline plus a random delay of up to {delay}, not when the reward "
    "came. The shuffler keeps the day on which a permit came back, apart from the reports, until such permits have "
    "expired.",
}
"""In place of what is below where there is a shuffler."""

CONNECTION = (
    ("network address", "every connection has one. The server keeps addresses in memory for its limit of requests, and "
     "never writes them down; a proxy in front of it may."),
    ("time", "a report leaves at the decision's deadline plus a random delay of up to {delay}, not when the reward "
     "came. The journal keeps the day; beside it stands how many came in each hour, for two days."),
    ("length and presence", "the same length for every report of the task, and one report for every decision that was "
     "paid for, whether or not anything happened."),
)  # fmt: skip
"""What is seen around a report."""

BATCH = (
    ("a batch", "at least {batch:,} reports that answer the same model through the same gate, in random order, and "
     "when the batch came. What is fewer never leaves the shuffler, and is deleted when its model is old."),
    ("of each report", "a name that the shuffler drew for it, the payload, and the part of the coin that is needed to "
     "read it. The coin comes from a permit that the server did not issue and a nonce that it does not see."),
)  # fmt: skip
"""What the server sees where there is a shuffler."""

EXTENSIONS = {
    "admission": "this task wants an admission token with each request for permits or tickets, signed by the app's own "
    "server. Who signs and who learns could find out together whose report it is (docs/admission.md).",
    "holdout": "in a declared share of decisions this task measures what learning gains. Those report the reward "
    "alone, at the same epsilon and length, and the server knows which they are.",
}
"""What each extension of a contract adds to what the server sees."""

PERMITS = (
    "The server can tell that a report and the request for its permit belong together. Permits that were fetched in "
    "one request would belong to one device, so a device fetches them one at a time, ahead, after random pauses."
)
TICKETS = (
    "The server can tell that a report and the request for its ticket belong together. A ticket is fetched when an "
    "action is needed, so the server also knows about when the decision was made; tickets that were fetched in one "
    "request belong to one device."
)
MIXED = (
    "The server cannot tell which reports belong together, nor to whom: it sees no permit, no address, and no time but "
    "that of a batch. The shuffler can tell that a report and the request for its permit belong together."
)
ADDRESSES = (
    "A {who} that wrote down addresses could put together what came from one of them. The limits above count all "
    "reports of a device as if the {who} knew that they belong together."
)

NOT_COVERED = (
    ("taking part", "that a device takes part, about when, and from which address."),
    ("the choice as others see it", "whoever sees the screen sees what was chosen, and a server that delivers the "
     "content sees what it delivers."),
    ("the app", "it sees the raw data before the device makes it private. What else it sends, and where, is not "
     "limited by this promise. The same holds for a backend that holds devices for its users."),
    ("the device", "until a report is drawn, its raw data rests in the owner's folder; whoever reads that storage "
     "reads it."),
    ("cleared storage", "the account of what was spent is in the same folder. Who clears it starts again with a full "
     "budget."),
    ("several devices of one person", "each has a budget of its own; together they may send several times as much."),
    ("forged reports", "nobody can tell a forged report from an honest one. That is a risk for what is learned, not "
     "for the people (docs/forgers.md)."),
    ("what all reports say together", "it is what the task is for. It may tell something about people like you, "
     "whether you took part or not."),
    ("taking back", "single reports are deleted after {retention}. What was learned from them is a noisy sum, from "
     "which nobody can be taken out again."),
)  # fmt: skip
SHUFFLER = (
    "the shuffler",
    "whoever runs it sees each report, private as it left the device, with its address and time. Together with the "
    "server it could undo all that it adds. Then the promise of the device is what is left.",
)
"""Where there is one."""
CONDITIONS = (
    "whoever runs the shuffler is not whoever runs the server, and does not work with them. Nobody can see that from "
    "outside: it is a contract between people, which you can ask for.",
    "the shuffler runs as published: it issues the permits itself, and forgets whose they were.",
    "of the reports in a batch, as many as the table says are of devices that do not work for the server. Whoever "
    "runs the server can send reports of their own through the shuffler, and those hide nobody.",
)
"""On which a smaller epsilon depends."""
OFFERED = ("the offered action", "the server chose it, so it knows which action each report is about.")
TIMING = (
    "the time a draw takes",
    "the noise is drawn by trying until it succeeds; how long that takes is not covered.",
)
"""Gaussian and Laplace noise only."""

ARTICLE = "Regulation (EU) 2016/679 (GDPR), Article 35(7)"
ASSESSMENT = (
    ("(a) What is done, and what for",
     "See 'What is promised', 'What leaves a device' and 'How long'. On devices: {processed}. At the server: reports, "
     "and what was learned from them. It chooses: {choices}.",
     "Your purpose and its legal basis; who is responsible; who runs the server{shuffler}."),
    ("(b) Is it needed, and is it in proportion",
     "Raw data is not collected. The cost to one person is limited by the contract, and the owner of a device may "
     "allow less or nothing. `sottovoce plan` says how many people a smaller epsilon would need.",
     "Why the question must be asked; why a smaller epsilon would not do; how people are told and can refuse."),
    ("(c) What could happen to people",
     "What one report can give away, and what all of them can, is bounded in the table above. See 'What is not "
     "covered' for the rest{warm}.",
     "How likely and how serious that is for your people; whether the fields or rewards are of a special category."),
    ("(d) What is done about it",
     "Noise on the device, in whole numbers, from the operating system; an account on the device that refuses; a "
     "contract that cannot change; one length and one time for all reports; deletion after {retention}. "
     "`sottovoce audit` attacks the mechanisms from outside; `sottovoce inspect` shows an owner all that was sent.",
     "TLS and the logs of your proxy; who may use the admin token; what the app itself does with the data."),
)  # fmt: skip
"""The four questions in our words, what this statement answers to each, and what is left to the reader."""
