/** Incremented when the tables or the format of entries change: an index of another version is emptied and rebuilt. */
export const schemaVersion = 8

/** The full-text columns. */
export const columns = ['name', 'tags', 'description', 'createdas', 'comments', 'metadata', 'text', 'tokens'] as const

/**
 * `doc.rid` increases with the time of creation, so that reading the full-text index backwards is newest first. Entries that are not `doc.listed` are in no
 * other table. `field.many` is set once a document had several values of it. `value.v` is a number, a date in ms or folded text, depending on the type of the
 * field. `doc.type` is the media type, folded. `value.shown` is the original text, where it differs.
 * `tag_total` counts the entries with a tag, per kind and for all kinds (kind ''); `cased` is 0 where `folded` equals the tag. `audience` is what rights depend on.
 */
export const schema = `
  CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
  CREATE TABLE doc (
    rid INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, revision INTEGER NOT NULL, listed INTEGER NOT NULL,
    author TEXT NOT NULL, public INTEGER NOT NULL, spaces TEXT NOT NULL, fields TEXT NOT NULL,
    type TEXT NOT NULL);
  CREATE TABLE removed (id TEXT PRIMARY KEY) WITHOUT ROWID;
  CREATE TABLE field (id INTEGER PRIMARY KEY, name TEXT NOT NULL, type TEXT NOT NULL, docs INTEGER NOT NULL DEFAULT 0,
    many INTEGER NOT NULL DEFAULT 0, UNIQUE (name, type));
  CREATE TABLE value (field INTEGER NOT NULL, v NOT NULL, doc INTEGER NOT NULL, shown TEXT, PRIMARY KEY (field, v, doc)) WITHOUT ROWID;
  CREATE INDEX value_of ON value (doc, field);
  CREATE TABLE tag (tag TEXT NOT NULL, doc INTEGER NOT NULL, PRIMARY KEY (tag, doc)) WITHOUT ROWID;
  CREATE INDEX tag_of ON tag (doc);
  CREATE TABLE audience (id INTEGER PRIMARY KEY, kind TEXT NOT NULL, author TEXT NOT NULL, public INTEGER NOT NULL, spaces TEXT NOT NULL,
    UNIQUE (author, kind, public, spaces));
  CREATE TABLE tag_audience (tag TEXT NOT NULL, audience INTEGER NOT NULL, docs INTEGER NOT NULL, PRIMARY KEY (tag, audience)) WITHOUT ROWID;
  CREATE TABLE tag_total (kind TEXT NOT NULL, tag TEXT NOT NULL, folded TEXT NOT NULL, cased INTEGER NOT NULL, docs INTEGER NOT NULL,
    PRIMARY KEY (kind, tag)) WITHOUT ROWID;
  CREATE INDEX tag_by_name ON tag_total (kind, folded);
  CREATE INDEX tag_by_use ON tag_total (kind, docs, cased, folded);
  CREATE TABLE word (term TEXT PRIMARY KEY) WITHOUT ROWID;
  CREATE VIRTUAL TABLE fts USING fts5(${columns.join(', ')},
    content='', contentless_delete=1, prefix='2 3', tokenize="ascii tokenchars '_'");
`

/**
 * The keys in `meta` of the kinds of all entries so far. That of the empty kind is in an index that has recorded them from its first entry on, which those of
 * earlier releases have not.
 */
export const kindKey = (kind: string): string => `kind:${kind}`

const stepsPerMs = 1024
const lastMs = Math.floor(Number.MAX_SAFE_INTEGER / stepsPerMs) - 1

/** The lowest row number of entries created at that time. */
export const firstRid = (ms: number): number => Math.min(Math.max(Math.floor(ms), 0), lastMs) * stepsPerMs

/** The time of creation of a row number, in ms. */
export const msOfRid = (rid: number): number => Math.floor(rid / stepsPerMs)

/** Row numbers per millisecond. */
export const ridsPerMs = stepsPerMs
