import { randomBytes } from 'node:crypto'
import { MongoClient } from 'mongodb'
import pg from 'pg'

/** A backend that replaces an embedded one. */
export type ServerPart = 'documents.mongodb' | 'geo.postgis' | 'blobs.s3' | 'search.elasticsearch' | 'transport.rabbitmq'

/** A private database, schema, bucket, index and virtual host on real servers, initially empty. */
export interface Places {
  /** Environment variables of a kernel. */
  readonly settings: Readonly<Record<string, string>>
  /** URL of the broker, if requested. */
  readonly broker?: string
}

interface Ending {
  teardown(end: () => Promise<void>): void
}

/** Creates a virtual host of the broker that is deleted after the test. */
const ownVirtualHost = async (t: Ending, broker: string, management: string): Promise<string> => {
  const name = `pounce-${randomBytes(6).toString('hex')}`
  const { username, password, origin } = new URL(management)
  const authorization = `Basic ${Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64')}`
  const call = async (method: string): Promise<void> => {
    const answer = await fetch(`${origin}/api/vhosts/${name}`, { method, headers: { authorization } })
    if (!answer.ok) throw new Error(`${method} ${name}: ${answer.status} ${await answer.text()}`)
  }
  await call('PUT')
  t.teardown(() => call('DELETE'))
  const url = new URL(broker)
  url.pathname = `/${name}`
  return url.href
}

const dropDatabase = async (uri: string, name: string): Promise<void> => {
  const client = new MongoClient(uri)
  await client.db(name).dropDatabase()
  await client.close()
}

const dropSchema = async (url: string, name: string): Promise<void> => {
  const client = new pg.Client(url)
  await client.connect()
  await client.query(`drop schema if exists "${name}" cascade`)
  await client.end()
}

const dropIndexes = async (server: string, prefix: string): Promise<void> => {
  const found = (await (await fetch(`${server}/${prefix}*/_alias`)).json()) as object
  for (const index of Object.keys(found)) if (index.startsWith(prefix)) await fetch(`${server}/${index}`, { method: 'DELETE' })
}

/** Settings that make kernels use these servers. `url` returns the URL of each, like that of `liveTests`. The bucket is kept for inspection. */
export const placesOn = async (
  t: Ending,
  url: (name: 'MONGODB' | 'POSTGIS' | 'S3' | 'ELASTICSEARCH' | 'RABBITMQ' | 'RABBITMQ_MANAGEMENT') => string,
  parts: readonly ServerPart[],
): Promise<Places> => {
  const name = `pounce-${randomBytes(6).toString('hex')}`
  const schema = name.replace('-', '_')
  const use = parts.includes('transport.rabbitmq') ? [...parts, 'resources.event-sink'] : parts
  const broker = parts.includes('transport.rabbitmq') ? await ownVirtualHost(t, url('RABBITMQ'), url('RABBITMQ_MANAGEMENT')) : undefined
  const all: Record<ServerPart, () => Readonly<Record<string, string>>> = {
    'documents.mongodb': () => ({ POUNCE_DOCUMENTS__MONGODB__URI: url('MONGODB'), POUNCE_DOCUMENTS__MONGODB__DATABASE: name }),
    'geo.postgis': () => ({ POUNCE_GEO__POSTGIS__URL: url('POSTGIS'), POUNCE_GEO__POSTGIS__SCHEMA: schema }),
    'blobs.s3': () => ({
      POUNCE_BLOBS__S3__ENDPOINT: url('S3'),
      POUNCE_BLOBS__S3__BUCKET: name,
      POUNCE_BLOBS__S3__CREATE_BUCKET: 'true',
      POUNCE_BLOBS__S3__ACCESS_KEY_ID: process.env['POUNCE_TEST_S3_KEY'] ?? 'testkey',
      POUNCE_BLOBS__S3__SECRET_ACCESS_KEY: process.env['POUNCE_TEST_S3_SECRET'] ?? 'testsecret',
    }),
    'search.elasticsearch': () => ({
      POUNCE_SEARCH__ELASTICSEARCH__NODES: url('ELASTICSEARCH'),
      POUNCE_SEARCH__ELASTICSEARCH__INDEX: name,
    }),
    'transport.rabbitmq': () => ({
      POUNCE_TRANSPORT__RABBITMQ__URI: broker ?? '',
      POUNCE_TRANSPORT__RABBITMQ__MANAGEMENT_URL: url('RABBITMQ_MANAGEMENT'),
    }),
  }
  if (parts.includes('documents.mongodb')) t.teardown(() => dropDatabase(url('MONGODB'), name))
  if (parts.includes('geo.postgis')) t.teardown(() => dropSchema(url('POSTGIS'), schema))
  if (parts.includes('search.elasticsearch')) t.teardown(() => dropIndexes(url('ELASTICSEARCH'), name))
  const settings = Object.assign(
    use.length === 0 ? {} : { POUNCE_REPLACE_PLUGINS: use.join(',') },
    ...parts.map(part => all[part]()),
  ) as Record<string, string>
  return { settings, ...(broker === undefined ? {} : { broker }) }
}
