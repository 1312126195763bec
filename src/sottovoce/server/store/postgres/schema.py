"""The tables in PostgreSQL, and how a place in the journal is made.

A report comes into the `inbox`, where nobody orders it: transactions end in another order than they begin, so no number
that a web process could give would be one to read by. The elected learner moves it into the `journal` and gives it its
place. A place is the day times `PLACES` plus a number within the day, so that each day has a partition of its own,
places grow, and old days are dropped as a whole.
"""

from sottovoce.server.store.migrations import Migration

PLACES = 2**32
"""Places of one day."""

FIRST = """
CREATE TABLE format (number integer NOT NULL, oldest integer NOT NULL);
INSERT INTO format VALUES (0, 0);
CREATE TABLE secrets (name text PRIMARY KEY, value bytea NOT NULL);
CREATE TABLE tasks (
  number integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, id text NOT NULL UNIQUE, contract bytea NOT NULL,
  mode text NOT NULL, paused boolean NOT NULL DEFAULT false, prediction bytea NOT NULL DEFAULT ''
);
CREATE TABLE counts (task integer PRIMARY KEY, reports bigint NOT NULL, warm bigint NOT NULL);
CREATE TABLE history (
  task integer NOT NULL, hour integer NOT NULL, verdict text NOT NULL, reports bigint NOT NULL,
  PRIMARY KEY (task, hour, verdict)
);
CREATE TABLE ids (task integer NOT NULL, id bytea NOT NULL, day integer NOT NULL, PRIMARY KEY (task, id));
CREATE TABLE inbox (
  arrival bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, task integer NOT NULL, id bytea NOT NULL,
  day integer NOT NULL, gate smallint NOT NULL, context bytea NOT NULL, payload bytea NOT NULL, hour integer NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000, autovacuum_vacuum_cost_delay = 0);
CREATE TABLE journal (
  seq bigint PRIMARY KEY, task integer NOT NULL, id bytea NOT NULL, day integer NOT NULL, gate smallint NOT NULL,
  context bytea NOT NULL, payload bytea NOT NULL
) PARTITION BY RANGE (seq);
CREATE INDEX of_task ON journal (task, seq);
CREATE TABLE places (last bigint NOT NULL);
INSERT INTO places VALUES (0);
CREATE TABLE leader (epoch bigint PRIMARY KEY, until timestamptz NOT NULL);
INSERT INTO leader VALUES (0, '-infinity');
CREATE TABLE publications (
  task integer NOT NULL, learned bigint NOT NULL, version text NOT NULL, body bytea NOT NULL, memo bytea NOT NULL,
  superseded bigint NOT NULL, PRIMARY KEY (task, learned, version)
);
CREATE TABLE snapshots (
  task integer NOT NULL, seq bigint NOT NULL, learned bigint NOT NULL, published bigint NOT NULL, base boolean NOT NULL,
  day integer NOT NULL, state bytea NOT NULL, PRIMARY KEY (task, seq)
);
CREATE TABLE gaps (
  task integer NOT NULL, after_seq bigint NOT NULL, until_seq bigint NOT NULL, reports bigint NOT NULL,
  PRIMARY KEY (task, after_seq)
);
CREATE TABLE unread (task integer NOT NULL, seq bigint NOT NULL, error text NOT NULL, PRIMARY KEY (task, seq));
CREATE TABLE actions (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, time bigint NOT NULL, token text NOT NULL, role text NOT NULL,
  action text NOT NULL, task text NOT NULL, detail bytea NOT NULL, status integer NOT NULL, address text NOT NULL
);
CREATE INDEX actions_of_task ON actions (task, number);
CREATE TABLE admitted (
  expires bigint NOT NULL, task integer NOT NULL, id bytea NOT NULL, PRIMARY KEY (expires, task, id)
);
CREATE TABLE news (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, task integer NOT NULL, body bytea NOT NULL);
CREATE TABLE wishes (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, body bytea NOT NULL);
"""
"""What the learner tells is in `news`, what web processes ask of it in `wishes`."""

MIGRATIONS = (Migration(7, 7, "The first tables.", (FIRST,)),)
"""Their numbers are those of the embedded store: what is kept is the same."""

APPEND = """
WITH given AS (
  SELECT * FROM unnest(%b::integer[], %b::bytea[], %b::integer[], %b::integer[], %b::bytea[], %b::bytea[])
  WITH ORDINALITY AS given (task, id, day, gate, context, payload, number)
), fresh AS (
  INSERT INTO ids SELECT task, id, day FROM given ORDER BY number ON CONFLICT DO NOTHING RETURNING task, id
), kept AS (
  INSERT INTO inbox (task, id, day, gate, context, payload, hour)
  SELECT task, id, day, gate, context, payload, %s FROM given JOIN fresh USING (task, id) ORDER BY number
)
SELECT task, id FROM fresh
"""
"""Keeps those whose id is not known yet, and says which these are: one statement, one transaction."""

NEXT = "SELECT max(day), count(*) FROM (SELECT day FROM inbox ORDER BY arrival LIMIT %s) AS first"
ORDER = """
WITH taken AS (
  DELETE FROM inbox WHERE arrival IN (SELECT arrival FROM inbox ORDER BY arrival LIMIT %s) RETURNING *
), counted AS (
  INSERT INTO counts SELECT task, count(*) FILTER (WHERE gate >= 0), count(*) FILTER (WHERE gate < 0)
  FROM taken GROUP BY task
  ON CONFLICT (task) DO UPDATE SET reports = counts.reports + excluded.reports, warm = counts.warm + excluded.warm
), told AS (
  INSERT INTO history SELECT task, hour, 'accepted', count(*) FROM taken WHERE gate >= 0 GROUP BY task, hour
  ON CONFLICT (task, hour, verdict) DO UPDATE SET reports = history.reports + excluded.reports
)
INSERT INTO journal
SELECT %s + row_number() OVER (ORDER BY arrival), task, id, day, gate, context, payload FROM taken
"""
"""Moves the first of the inbox into the journal, and counts them."""
