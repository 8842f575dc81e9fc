import type { Client } from 'pg'
import { PostgisUnusable } from './settings.ts'

/** Properties of the server, and how its connections are set up. */
export interface ServerProperties {
  readonly engine: string
  /** Connection settings in the format of the startup packet. */
  readonly options: string
}

/** Arbitrary lock numbers that no other program is likely to use: one for each of our schemas. */
const lockSpace = 0x706f7563

/** The migrations of the tables; a released step is never changed. */
const steps: readonly string[] = [
  `
  create table points (
    id bigint primary key,
    stream bigint not null,
    start_ms bigint not null,
    end_ms bigint,
    created_ms bigint not null,
    altitude float8,
    shape geometry not null,
    properties jsonb not null
  );
  create index points_by_stream on points (stream, start_ms, id);
  create index points_by_start on points (start_ms, id);
  create index points_by_shape on points using gist (shape);
  comment on column points.altitude is 'Of the first position, in metres; null when it has none';

  create table streams (
    stream bigint primary key,
    count bigint not null,
    first_start_ms bigint not null,
    last_end_ms bigint,
    west float8 not null,
    south float8 not null,
    east float8 not null,
    north float8 not null,
    names text[] not null,
    is_stale boolean not null default false
  ) with (fillfactor = 50);
  comment on column streams.names is 'Of properties; once there are more than 1,000, the first 1,000 by code point';
  comment on column streams.is_stale is 'Points were removed: all but the count may tell too much until they are looked through';

  create function refuse(reason text) returns bigint language plpgsql as $$
  begin
    raise exception using errcode = 'GEO01', message = reason;
  end $$;
  `,
  `
  alter table streams add column others text[];
  comment on column streams.others is 'Names of properties that were something else than a number once; null when that is not known, or they are more than 1,000';
  `,
]

const single = async (client: Client, text: string, values: readonly unknown[] = []): Promise<string | undefined> => {
  const { rows } = await client.query({ text, values: [...values], rowMode: 'array' })
  const value: unknown = (rows as readonly (readonly unknown[])[])[0]?.[0]
  return value === null || value === undefined ? undefined : String(value)
}

/** Name and version of the extension, and its schema. */
const extensionOf = async (client: Client): Promise<{ readonly version: string; readonly home: string }> => {
  const text = `select e.extversion || ' ' || n.nspname from pg_extension e join pg_namespace n on n.oid = e.extnamespace where e.extname = 'postgis'`
  const found = await single(client, text)
  if (found === undefined)
    throw new PostgisUnusable('PostGIS is not installed in this database: run "create extension postgis;" as a privileged user')
  const space = found.indexOf(' ')
  return { version: found.slice(0, space), home: found.slice(space + 1) }
}

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`

/**
 * Creates the schema and its tables, or upgrades those of an older version, one kernel at a time and in one transaction. Throws `PostgisUnusable`
 * when PostGIS is missing, or when the schema was written by a newer version.
 */
export const prepare = async (client: Client, schema: string): Promise<ServerProperties> => {
  if ((await single(client, `select current_setting('server_encoding')`)) !== 'UTF8')
    throw new PostgisUnusable('the encoding of this database must be UTF8')
  const { version, home } = await extensionOf(client)
  const path = [schema, home, 'public'].map(quoted).join(',')
  // On failure it is rolled back when the connection closes.
  await client.query('begin')
  await client.query('select pg_advisory_xact_lock($1, hashtext($2))', [lockSpace, schema])
  await migrate(client, schema, path)
  await client.query('commit')
  const server = Number(await single(client, `select current_setting('server_version_num')`))
  const engine = `PostGIS ${version} (PostgreSQL ${await single(client, `select split_part(current_setting('server_version'), ' ', 1)`)})`
  // Aggregating some thousand points is faster than JIT-compiling code for it.
  const settings = [`search_path=${path}`, 'jit=off', 'cursor_tuple_fraction=1']
  // So that a statement whose caller disconnected ends too; not supported by PostgreSQL 13.
  if (server >= 140_000) settings.push('client_connection_check_interval=2s')
  return { engine, options: settings.map(each => `-c ${each.replaceAll(' ', '\\ ')}`).join(' ') }
}

const migrate = async (client: Client, schema: string, path: string): Promise<void> => {
  const isThere = await single(client, 'select 1 from pg_namespace where nspname = $1', [schema])
  if (isThere === undefined) await client.query(`create schema ${quoted(schema)}`)
  await client.query(`select set_config('search_path', $1, true)`, [path])
  const hasVersion = await single(client, 'select 1 from pg_tables where schemaname = $1 and tablename = $2', [schema, 'version'])
  if (hasVersion === undefined) {
    await client.query('create table version (number integer not null)')
    await client.query('insert into version values (0)')
  }
  const number = Number(await single(client, 'select number from version'))
  if (number > steps.length)
    throw new PostgisUnusable(
      `the schema ${schema} was created by a newer version of this program (${number}; supported: ${steps.length}): use that version`,
    )
  for (const step of steps.slice(number)) await client.query(step)
  if (number < steps.length) await client.query('update version set number = $1', [steps.length])
}
