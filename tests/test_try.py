"""`sottovoce try`, a table of one's own: replay is right on average, rows are encoded as on a device, errors help."""

import dataclasses
import json
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from sottovoce.catalogue.task_file import load_task_file
from sottovoce.lab.try_data.logs import surprise
from sottovoce.lab.try_data.question import Asked, question_of
from sottovoce.lab.try_data.task_text import task_text
from sottovoce.lab.try_data.trial import WINDOWS, Outcome, Trial, cells_for, range_of, remarks, verdicts
from sottovoce.lab.try_data.unseen import Unseen
from sottovoce.protocol.contract import ByModel
from sottovoce.protocol.fields import Category, Flag, Number
from sottovoce.sim.guesses import guessed_fields, guesses
from sottovoce.sim.random import simulation_key
from sottovoce.sim.tables import Answers, answers_of, columns_of, encoded
from sottovoce.sim.worlds import world_of
from sottovoce.sim.worlds.base import meet
from sottovoce.sim.worlds.logged import Logged
from sottovoce.users.cells import values_of
from sottovoce.users.fields import encode, features
from test_cli import refused, typed

SHOPS = """\
age,member,shop,basket,year
20,yes,north,bread,7
31.5,no,south,cake,7
60,yes,"west, new",bread,7
44,no,north,cake,7
"""


@pytest.fixture
def shops(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a small table of right answers; `basket` is the label."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "shops.csv").write_text(SHOPS)
    return tmp_path / "shops.csv"


# --- fields ----------------------------------------------------------------------------------------------------------


def test_fields_are_guessed_from_what_the_cells_say(shops: Path):
    assert guessed_fields(columns_of("shops.csv"), without=["basket"]) == {
        "age": Number(low=20.0, high=60.0, middle=37.75),
        "member": Flag(),
        "shop": Category(values=("north", "south", "west, new")),
    }


def test_a_range_is_where_nine_of_ten_lie_so_that_a_few_do_not_decide_it():
    incomes = [str(1000 + 10 * i) for i in range(99)] + ["1e9"]
    (field,) = guessed_fields({"income": incomes}).values()
    assert field == Number(low=1050.0, high=1940.0, middle=1495.0)
    visits = ["0"] * 97 + ["1", "5", "900"]  # nearly all are equal: then all of them
    assert guessed_fields({"visits": visits})["visits"] == Number(low=0.0, high=900.0, middle=3.0)


def test_an_empty_cell_is_a_value_that_is_not_known(shops: Path):
    shops.write_text(SHOPS.replace("20,yes,north", "NA,,?"))
    columns = columns_of("shops.csv")
    fields = guessed_fields(columns, without=["basket"])
    assert list(fields) == ["age", "member", "shop"]
    people, known = encoded(fields, columns), encode(fields, {"age": 60, "member": True, "shop": "west, new"})
    np.testing.assert_array_equal(people[0], encode(fields, dict.fromkeys(fields)))
    assert not people[0, 1:].any()
    np.testing.assert_array_equal(people[2], known)
    (told,) = [note for note in question_of(Asked("shops.csv", label="basket")).notes if "not known" in note]
    assert told == "Cells without a value count as not known: 1 of 4 in age, 1 of 4 in member, 1 of 4 in shop."


def test_a_column_that_names_each_person_is_left_out_and_said_so(tmp_path: Path):
    table = "name,age,buys\n" + "".join(f"person {i},{i % 20},{'ab'[i % 2]}\n" for i in range(40))
    (tmp_path / "people.csv").write_text(table)
    question = question_of(Asked(str(tmp_path / "people.csv"), label="buys"))
    assert list(question.file.fields) == ["age"]
    assert "More than 30 different words, so left out (group them to use them): name." in question.notes


@pytest.mark.parametrize(
    ("cells", "low", "high"),
    [
        (["$1,200", "$1,300.50", "$90"], 90.0, 1300.5),
        (["1.200 €", "1.300,50 €", "90 €"], 90.0, 1300.5),
        (["1\u202f200", "1'300.5", "-90"], -90.0, 1300.5),
        (["12,5", "3", "1,234"], 1.234, 12.5),
        (["12.5%", "50 %", "NA"], 0.125, 0.5),
    ],
)
def test_numbers_are_read_as_people_write_them(cells: list[str], low: float, high: float):
    assert guessed_fields({"spent": cells})["spent"] == Number(low=low, high=high, middle=_middle(cells, low, high))


def _middle(cells: list[str], low: float, high: float) -> float | None:
    """The one value between the others."""
    (values,) = [values_of("x", Number(low=0.0, high=1.0), cells)]
    return next((value for value in values if value not in (low, high, None)), None)  # pyright: ignore


def test_of_many_words_the_most_frequent_become_a_category_and_the_others_are_counted(tmp_path: Path):
    draw = np.random.default_rng(0)
    cities = ["rome"] * 40 + [f"c{i % 9}" for i in range(160)] + [f"village {i}" for i in range(100)]
    rows = [f"{city},{draw.integers(0, 9)},{'ab'[place % 2]}" for place, city in enumerate(cities)]
    (tmp_path / "people.csv").write_text("\n".join(["city,visits,buys", *rows]))
    question = question_of(Asked(str(tmp_path / "people.csv"), label="buys"))
    assert question.file.fields["city"] == Category(values=(*(f"c{i}" for i in range(9)), "rome"))
    assert (
        "Cells with a word that is no value of its category count as none of them: 100 of 300 in city."
        in question.notes
    )
    assert isinstance(guesses({"city": cities[40:60] + cities[200:]})["city"], str)  # too few rows say a frequent one
    assert isinstance(guesses({"city": [f"village {i}" for i in range(40)]})["city"], str)


def test_words_that_no_task_may_name_are_no_values_of_a_category():
    assert guesses({"it": ["a", "two\nlines", "b"] * 9})["it"] == Category(values=("a", "b"))


@pytest.mark.parametrize(
    ("cells", "reason"),
    [
        ([str(i) for i in range(1, 151)], "Another whole number in every row, as if it numbered them, so left out"),
        ([f"{i:05}" for i in range(9000, 9100)], "More than 30 different words, so left out (group them to use them)"),
        (
            [str(i / 2) for i in range(90)] + ["none"],
            "Numbers, but also 'none', so left out (empty such cells to use it)",
        ),
        (["7"] * 9 + [""], "The same in every row, so left out"),
        (["a", "two\nlines"] * 9, "Words with line breaks or control characters, so left out"),
    ],
    ids=["rows are numbered", "codes", "numbers and words", "no change", "not one line"],
)
def test_a_column_that_is_left_out_is_named_with_the_reason(cells: list[str], reason: str):
    assert guesses({"it": cells})["it"] == reason


def test_whole_numbers_that_happen_to_be_different_are_numbers():
    """Forty of a hundred thousand: to be all different is what chance does."""
    prices = np.random.default_rng(0).integers(0, 100_000, 40)
    assert len(set(prices.tolist())) == 40
    assert isinstance(guesses({"price": [str(price) for price in prices]})["price"], Number)


@pytest.mark.parametrize("mark", [";", "\t"])
def test_cells_are_parted_by_commas_semicolons_or_tabs(mark: str, shops: Path):
    shops.write_text(SHOPS.replace("\n", ",\n").replace("age,member", " age , member "))
    wanted = columns_of("shops.csv")
    assert list(wanted) == ["age", "member", "shop", "basket", "year"]  # space around cells and columns without a name
    shops.write_text("\ufeff" + SHOPS.replace("west, new", "WEST").replace(",", mark).replace("WEST", "west, new"))
    assert columns_of("shops.csv") == wanted


def test_rows_are_encoded_as_a_device_encodes_them(shops: Path):
    columns = columns_of("shops.csv")
    fields = guessed_fields(columns, without=["basket"])
    answers, people = answers_of(columns, "basket"), encoded(fields, columns)
    world = world_of("table", arms=2, dimension=2 * people.shape[1], path="shops.csv", label="basket")
    offers = ByModel(model="linear", fields=fields, actions=answers.names)
    said = {name: values_of(name, field, columns[name]) for name, field in fields.items()}
    for row, person in enumerate(people):
        on_device = features(offers, {name: values[row] for name, values in said.items()})
        np.testing.assert_allclose(on_device[0, : len(person)], person)
        np.testing.assert_allclose(on_device[1, len(person) :], person)
    with jax.enable_x64(True):
        shown = {np.asarray(world.visit(0, simulation_key(seed)).features).tobytes() for seed in range(60)}
    wanted = [np.kron(np.eye(2), person).tobytes() for person in people]
    assert shown == set(wanted)


def test_a_guessed_task_file_is_read_back_as_the_same_task(shops: Path):
    shops.write_text(SHOPS.replace("shop", "shop \\\\ 'a'"))
    file = question_of(Asked("shops.csv", label="basket", people=500)).file
    Path("task.toml").write_text(task_text(file, "shops.csv", "task.toml"), encoding="utf-8")
    assert load_task_file(Path("task.toml")) == file
    again = question_of(Asked("shops.csv", label="basket", task=Path("task.toml")))
    assert again.file == file
    assert again.known == (0.5, 0.5, "bread")


def test_rewards_outside_the_range_are_clipped_as_on_a_device_and_counted(tmp_path: Path):
    rows = [f"{i % 5},{'ab'[i % 2]},{9000 if i == 7 else 20 + i % 3}" for i in range(100)]
    (tmp_path / "log.csv").write_text("\n".join(["age,action,reward", *rows]))
    asked = Asked(str(tmp_path / "log.csv"), action="action", reward="reward")
    guessed = question_of(asked)
    assert (guessed.file.reward.low, guessed.file.reward.high) == (20.0, 22.0)
    assert "Rewards outside 20 to 22 were clipped, as a device does: 1 of them." in guessed.notes
    assert guessed.known.best == pytest.approx(21.0, abs=0.1)
    assert "So few rows have these actions that their mean rewards are uncertain: a (50), b (50)." in guessed.notes
    said = question_of(asked._replace(reward_range=(0.0, 21.0)))
    assert "Rewards outside 0 to 21 were clipped, as a device does: 34 of them." in said.notes


def test_a_log_in_which_nearly_all_rewards_are_the_lowest_gets_the_preset_rare(tmp_path: Path):
    def guessed(clicks: int, learner: str = "") -> str:
        rows = [f"{20 + i % 7},{'ab'[i % 2]},{int(i < clicks)}" for i in range(100)]
        (tmp_path / "log.csv").write_text("\n".join(["age,action,clicked", *rows]))
        asked = Asked(str(tmp_path / "log.csv"), action="action", reward="clicked", learner=learner)
        file = question_of(asked).file
        (tmp_path / "task.toml").write_text(task_text(file, "log.csv", "task.toml"), encoding="utf-8")
        assert load_task_file(tmp_path / "task.toml") == file
        return file.preset

    assert [guessed(10), guessed(11), guessed(10, "linucb")] == ["rare", "practical", "practical"]


# --- replay ----------------------------------------------------------------------------------------------------------

CHANCE = {("old", "a"): 0.9, ("old", "b"): 0.4, ("young", "a"): 0.1, ("young", "b"): 0.6}
"""The reward of each action; as many people are old as young."""
LOGGED = {("old", "a"): 0.8, ("old", "b"): 0.2, ("young", "a"): 0.2, ("young", "b"): 0.8}
"""With what probability each action was logged."""


def write_log(path: Path, *, propensity: bool = True) -> None:
    """A log in which every share is exactly what the two tables above say."""
    rows = ["age,action,reward,p"]
    for (age, action), chance in CHANCE.items():
        count = round(50 * LOGGED[age, action])
        rewarded = round(count * chance)
        rows += [f"{age},{action},{int(place < rewarded)},{LOGGED[age, action]}" for place in range(count)]
    path.write_text("\n".join(rows if propensity else [row.rpartition(",")[0] for row in rows]) + "\n")


@jax.jit
def replayed(world: Logged, rule: jax.Array, key: jax.Array) -> jax.Array:
    """The mean reward of 5,000 people under a rule: the action of the young, and of the old."""

    def one(key: jax.Array) -> jax.Array:
        first, second = jax.random.split(key)
        # The words of `age` are old and young: the coordinate after the constant says old.
        act = lambda shown, key: rule[(shown[0, 1] > 0).astype(int)]  # noqa: E731
        return world.outcome(*meet(world, jnp.asarray(0), first, second, act), key)

    return jnp.mean(jax.vmap(one)(jax.random.split(key, 5000)))


def test_replay_gives_the_value_of_a_rule_that_was_not_the_logged_one(tmp_path: Path):
    """False-alarm rate 1e-6 (4.9 deviations) for each rule; without the probabilities the value would be another."""
    write_log(tmp_path / "log.csv")
    world = question_of(Asked(str(tmp_path / "log.csv"), action="action", reward="reward", propensity="p")).world
    careless = dataclasses.replace(world, keep=np.ones(100))
    with jax.enable_x64(True):
        value = lambda world, rule: (float(replayed(world, jnp.array(rule), simulation_key(1))) + 1) / 2  # noqa: E731
        found = [value(world, rule) for rule in ((0, 0), (1, 0), (0, 1))]
        naive = value(careless, (0, 0))
        assert np.isnan(value(dataclasses.replace(world, actions=np.zeros(100, int)), (1, 1)))  # nobody was given b
    allowed = 4.9 * 0.5 / np.sqrt(5000)
    np.testing.assert_allclose(found, [(0.1 + 0.9) / 2, (0.6 + 0.9) / 2, (0.1 + 0.4) / 2], atol=allowed)
    assert naive == pytest.approx(0.2 * 0.1 + 0.8 * 0.9, abs=allowed)  # those who were logged with `a` are mostly old


def test_what_a_log_says_without_a_run_is_what_replay_would_give(tmp_path: Path):
    write_log(tmp_path / "log.csv")
    question = question_of(Asked(str(tmp_path / "log.csv"), action="action", reward="reward", propensity="p"))
    assert question.known.uniform == pytest.approx(np.mean(list(CHANCE.values())))
    assert (question.known.best, question.known.best_action) == (pytest.approx(0.5), "a")


def test_a_log_whose_actions_follow_the_fields_needs_their_probabilities(tmp_path: Path):
    write_log(tmp_path / "log.csv", propensity=False)
    said = " ".join(refused("try", str(tmp_path / "log.csv"), "--action", "action", "--reward", "reward").split())
    assert "in this log the action depends on 'age'" in said
    assert "--propensity" in said


def test_independent_actions_are_seldom_called_dependent():
    """300 made-up logs. Surprises are standard normal: a mean of 0 (false-alarm rate 1e-6), and none near 4.75."""
    draw = np.random.default_rng(3)
    found = []
    for _ in range(300):
        actions = Answers(("a", "b", "c"), draw.integers(0, 3, 400))
        found.append(surprise(np.eye(4)[draw.integers(0, 4, 400)], actions))
    assert max(found) < 4.75
    assert np.mean(found) == pytest.approx(0.0, abs=4.9 / np.sqrt(300))
    assert np.std(found) == pytest.approx(1.0, abs=0.2)


# --- what a newcomer types -------------------------------------------------------------------------------------------

LOG = "age,action,reward\n" + "".join(f"{20 + i % 7},{'ab'[i % 2]},{i % 5}\n" for i in range(70))


@pytest.mark.parametrize(
    ("table", "arguments", "says"),
    [
        (None, "", "there is no file data.csv; of scikit-learn there are breast_cancer, digits, iris, wine"),
        ("", "--label x", "data.csv has no rows below its headings"),
        ("a,b\n", "--label b", "data.csv has no rows below its headings"),
        ("a|b\n1|2\n", "--label b", "unknown column 'b'; choose one of: a|b"),
        ("a,b\n1,2,3\n4,5\n", "--label b", "data.csv: row 1 has 3 cells, but there are 2 headings"),
        ("a,b,a\n1,2,3\n", "--label b", "data.csv has two columns that are called 'a'"),
        (SHOPS, "", "name the column of right answers with --label, or for a log --action and --reward; columns: age"),
        (SHOPS, "--label baskt", "unknown column 'baskt'; choose one of: age, basket, member, shop, year (did you"),
        (SHOPS, "--label basket --ignore agee", "unknown column 'agee'"),
        (SHOPS, "--label year", "column 'year' says '7' in every row; there must be two actions or more"),
        (SHOPS, "--label basket --reward age", "--label is for a table of right answers, --action and --reward for a"),
        (SHOPS.replace("bread", "", 1), "--label basket", "column 'basket' has no value in 1 of 4 rows: fill them in"),
        (SHOPS, "--label basket --people 10", "people must be at least 100, got 10"),
        (SHOPS, "--label basket --seeds 0", "seeds must be at least 1, got 0"),
        (SHOPS, "--label basket --epsilon -1", "epsilon must be a positive finite number, got -1.0"),
        (SHOPS, "--label basket --learner thompson", "a table is tried with named actions and a learner that takes f"),
        (SHOPS, "--label basket --learner linucv", "unknown learner 'linucv'"),
        (SHOPS, "--label basket --learner oful", "oful gets raw data; it exists in simulation only"),
        (SHOPS, "--label basket --task none.toml", "cannot read none.toml"),
        (SHOPS.replace("age", "years"), "--label basket --task shops.toml", "unknown column 'age'; choose on"),
        (SHOPS, "--label basket --task t.toml --learner ucb", "are said in the task file; change the file"),
        ("id,x\n" + "".join(f"{i},a\n" for i in range(101)), "--label id", "has 101 different values; at most 100"),
        ("id,x\n" + "".join(f"p{i},{i % 2}\n" for i in range(40)), "--label x", "no column is left that says anything"),
        ("x,y\n1,a\n1,b\n", "--label y", "no column is left that says anything about a person"),
        (LOG.replace("age", ""), "--action action --reward reward", "--arms 2 --option rewards=0.5,0.5` comp"),
        (LOG, "--action action --reward reward --reward-range 3 3", "--reward-range 3 3 is empty"),
        (LOG.replace(",3\n", ",good\n"), "--action action --reward reward", "'reward' must be a finite number, got"),
        (LOG, "--action action --reward reward --propensity p", "unknown column 'p'"),
        (LOG.replace("reward", "reward,p").replace("\n", ",2\n").replace("p,2", "p"),
         "--action action --reward reward --propensity p", "'p' must hold probabilities above 0 and up to 1"),
    ],
    ids=lambda part: part if isinstance(part, str) and "\n" not in part else "",
)  # fmt: skip
def test_what_cannot_be_tried_is_refused_in_one_sentence(
    table: str | None, arguments: str, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    if table is not None:
        (tmp_path / "data.csv").write_text(table)
    if "shops.toml" in arguments:
        (tmp_path / "shops.csv").write_text(SHOPS)
        file = question_of(Asked("shops.csv", label="basket")).file
        (tmp_path / "shops.toml").write_text(task_text(file, "shops.csv", "shops.toml"))
    said = " ".join(refused("try", "data.csv", *arguments.split()).split())
    assert says in said
    assert "Traceback" not in said
    assert not (tmp_path / "results").exists()


def test_a_misspelt_example_is_recognised_and_one_without_its_package_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
):
    assert "(did you mean iris?)" in refused("try", "irs")
    monkeypatch.setitem(__import__("sys").modules, "sklearn", None)
    assert "pip install 'sottovoce[data]'" in " ".join(refused("try", "iris").split())


# --- the verdict ------------------------------------------------------------------------------------------------------


def verdict(*last: float, plain: float = 0.9, unseen: bool = True) -> str:
    """What is said of runs that reach these rewards, where always `bread` gives 0.5 and other rows 0.7, `unseen`."""
    question = question_of(Asked("shops.csv", label="basket", people=1000))
    question = question._replace(unseen=Unseen(0.7, 0.02, unseen, np.zeros(4, int)))
    _, (private, no_privacy) = cells_for(question, [2.0], len(last))
    learned = (float(np.mean(last)) - 0.5) / (plain - 0.5)  # 0.5 is both uniform play and the best fixed action
    windows = np.ones((len(last), WINDOWS))
    outcomes = [
        Outcome(private, np.arange(WINDOWS), windows, range_of(np.array(last)), range_of(np.array(last)), learned),
        Outcome(no_privacy, np.arange(WINDOWS), windows, *[range_of(np.array([plain]))] * 2, 1.0),
    ]
    trial = Trial(question, len(last), outcomes)
    (sentence,) = verdicts(trial)
    assert ("holds for these rows only" in remarks(trial)[0]) == (plain > 0.75)  # 0.7 is less by a fifth of the gain
    return sentence


def test_the_verdict_is_a_plain_sentence(shops: Path):
    assert verdict(0.8, 0.82) == (
        "At epsilon 2 it would have worked: 0.810 a person at the end instead of 0.500 (always 'bread'), "
        "78% of the gain without privacy."
    )
    assert verdict(0.95, 0.45).startswith(
        "At epsilon 2 it would have helped a little: 0.700 a person"
    )  # one run did not
    assert verdict(0.6, 0.6).startswith("At epsilon 2 it would have helped a little")  # a quarter was learned
    not_worked = "At epsilon 2 it would not have worked: {} a person at the end with 1,000 people, {} than 0.500"
    assert verdict(0.5, 0.4).startswith(not_worked.format("0.450", "less"))
    # 200 people come in the last tenths: two standard errors are 0.071
    assert verdict(0.56, 0.56).startswith(not_worked.format("0.560", "not clearly more"))
    assert verdict(0.56, 0.56, plain=0.57).startswith("The fields do not clearly help 1,000 people here")
    assert verdict(0.5, 0.5, plain=0.49).startswith(
        "The fields do not clearly help 1,000 people here: the learner reaches 0.4900 without any privacy"
    )


def test_what_only_holds_for_the_rows_themselves_has_not_worked(shops: Path):
    assert verdict(0.8, 0.82, unseen=False).startswith("The rows are too few to say that it would have worked.")
    assert "gives 0.7000 to people in the others" in verdict(0.5, 0.5, plain=0.49)  # the learner misses what is there
    assert verdict(0.5, 0.5, plain=0.49, unseen=False).endswith("or a learner without fields.")


# --- from end to end -------------------------------------------------------------------------------------------------


def test_a_table_is_tried_from_end_to_end_and_again_with_its_task_file(tmp_path: Path):
    """The answer follows one field, so it is learned. Fixed seeds."""
    draw = np.random.default_rng(0)
    ages = draw.uniform(20, 60, 60)
    (tmp_path / "us.csv").write_text("age,buys\n" + "".join(f"{a:.1f},{'tea' if a > 45 else 'rum'}\n" for a in ages))
    small = ("--people", "2000", "--seeds", "2", "--epsilon", "8", "--json", "o.json")
    said = typed("try", "us.csv", "--label", "buys", *small, "--learner", "scale-free", cwd=tmp_path)
    rows = json.loads((tmp_path / "o.json").read_text())["rows"]
    assert [row["who"] for row in rows] == ["epsilon 8", "no privacy", "best fixed action", "uniform play"]
    private, plain, best, uniform = rows
    assert uniform["last"] == 0.5
    assert best["last"] == pytest.approx(np.mean(ages <= 45))
    assert plain["last"] > best["last"] + 0.1
    gain = plain["last"] - best["last"]
    assert private["learned"] == pytest.approx((private["last"] - best["last"]) / gain)
    screen = " ".join(said.split())
    assert "At epsilon 8 it would have" in screen
    assert "In a private deployment nobody sees a table first" in screen
    assert max(map(len, said.splitlines())) <= 80
    page = (tmp_path / "results" / "try-us" / "report.html").read_text()
    assert "At epsilon 8 it would have" in page
    assert "What each person is promised" in page
    task = tmp_path / "results" / "try-us" / "task.toml"
    corrected = task.read_text().replace("Which buys", "What")
    task.write_text(corrected)
    (tmp_path / "us.csv").write_text((tmp_path / "us.csv").read_text().replace("rum", "ale"))
    other = typed("try", "us.csv", "--label", "buys", "--people", "200", "--seeds", "1", cwd=tmp_path)
    assert "task file: results/try-us/task-2.toml" in other
    assert '"ale"' in (task.parent / "task-2.toml").read_text()
    assert task.read_text() == corrected
    (tmp_path / "us.csv").write_text((tmp_path / "us.csv").read_text().replace("ale", "rum"))
    again = typed("try", "us.csv", "--label", "buys", "--task", str(task), *small, cwd=tmp_path)
    assert "In a private deployment" not in again
    assert json.loads((tmp_path / "o.json").read_text())["rows"] == rows


def test_a_log_is_tried_from_end_to_end(tmp_path: Path):
    write_log(tmp_path / "log.csv")
    columns = ("--action", "action", "--reward", "reward", "--propensity", "p")
    small = ("--people", "1000", "--seeds", "2", "--epsilon", "8", "--json", "o.json", "--learner", "scale-free")
    said = " ".join(typed("try", "log.csv", *columns, *small, cwd=tmp_path).split())
    assert "about one row in 5 counts" in said
    assert "The range of the reward, 0 to 1, was taken from the table" in said
    plain = json.loads((tmp_path / "o.json").read_text())["rows"][1]
    assert 0.55 < plain["last"] < 0.8  # the best rule gives 0.75, the best fixed action 0.5
