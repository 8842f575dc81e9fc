import { Client } from 'ldapts'
import { MongoClient } from 'mongodb'
import pg from 'pg'
import type { LiveServer } from 'pounce/sdk/testing'

type Environment = Readonly<Record<string, string | undefined>>

const limitMs = 5_000

const get = (url: string, path: string): Promise<Response> => {
  const { username, password, origin } = new URL(url)
  const headers = username === '' ? {} : { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` }
  return fetch(origin + path, { headers, signal: AbortSignal.timeout(limitMs) })
}

const json = async <T>(url: string, path: string): Promise<T> => {
  const answer = await get(url, path)
  if (!answer.ok) throw new Error(`${path}: status ${answer.status}`)
  return (await answer.json()) as T
}

const mongodb = async (url: string): Promise<string> => {
  const client = new MongoClient(url, { serverSelectionTimeoutMS: limitMs })
  try {
    const { version, gitVersion } = await client.db('admin').command({ buildInfo: 1 })
    // A genuine mongod reports the commit it was built from.
    return `MongoDB ${version}${gitVersion === undefined ? ' (a reimplementation: it reports no commit)' : ''}`
  } finally {
    await client.close()
  }
}

const elasticsearch = async (url: string): Promise<string> => {
  const root = await json<{ version: { number: string; build_hash?: string } }>(url, '/')
  const path = '/_nodes/_local?filter_path=nodes.*.version,nodes.*.build_hash'
  const { nodes } = await json<{ nodes: Readonly<Record<string, { version: string; build_hash: string }>> }>(url, path)
  const [node] = Object.values(nodes)
  const note = root.version.build_hash === undefined ? ' (according to its node; GET / is served by a stand-in)' : ''
  return `Elasticsearch ${node?.version} build ${node?.build_hash.slice(0, 8)}${note}`
}

const s3 = async (url: string): Promise<string> => `S3, "Server: ${(await get(url, '/')).headers.get('server') ?? 'unknown'}"`

const rabbitmqManagement = async (url: string): Promise<string> => {
  const about = await json<{ rabbitmq_version: string; erlang_version: string }>(url, '/api/overview')
  return `RabbitMQ ${about.rabbitmq_version} on Erlang ${about.erlang_version}`
}

/** LDAP servers name their product in the root DSE, except OpenLDAP. */
const ldap = async (url: string): Promise<string> => {
  const client = new Client({ url, timeout: limitMs, connectTimeout: limitMs })
  try {
    const { searchEntries } = await client.search('', { scope: 'base', attributes: ['vendorVersion', 'structuralObjectClass'] })
    const [{ vendorVersion, structuralObjectClass } = { vendorVersion: [], structuralObjectClass: [] }] = searchEntries
    return `LDAP, ${[vendorVersion, structuralObjectClass].flat().find(each => typeof each === 'string' && each !== '') ?? 'unknown product'}`
  } finally {
    await client.unbind()
  }
}

const oidc = async (url: string): Promise<string> => {
  const { issuer } = await json<{ issuer: string }>(url, '/.well-known/openid-configuration')
  return `OpenID provider, issuer ${issuer}`
}

const postgis = async (url: string): Promise<string> => {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: limitMs, query_timeout: limitMs })
  try {
    await client.connect()
    const { rows } = await client.query(
      `select current_setting('server_version') as server, (select extversion from pg_extension where extname = 'postgis') as postgis`,
    )
    const [{ server, postgis }] = rows as [{ server: string; postgis: string | null }]
    return `PostgreSQL ${server} with ${postgis === null ? 'no PostGIS' : `PostGIS ${postgis}`}`
  } finally {
    await client.end()
  }
}

const requested: readonly (readonly [LiveServer, string, (url: string) => Promise<string>])[] = [
  ['MONGODB', 'MongoDB', mongodb],
  ['S3', 'S3', s3],
  ['ELASTICSEARCH', 'Elasticsearch', elasticsearch],
  ['RABBITMQ_MANAGEMENT', 'RabbitMQ', rabbitmqManagement],
  ['LDAP', 'LDAP', ldap],
  ['OIDC', 'OpenID provider', oidc],
  ['POSTGIS', 'PostGIS', postgis],
]

/**
 * One line per configured test server: the product and version that it reports, and in brackets the value of `POUNCE_TEST_<NAME>_SERVER`,
 * because some servers report little and others report a product that they only emulate.
 */
export const describeServers = (environment: Environment): Promise<readonly string[]> =>
  Promise.all(
    requested.map(async ([name, title, ask]) => {
      const url = environment[`POUNCE_TEST_${name}_URL`]
      if (!url) return `${title}: no server`
      const known = environment[`POUNCE_TEST_${name}_SERVER`]
      try {
        return `${await ask(url)}${known ? ` [${known}]` : ''}`
      } catch (error) {
        return `${title}: a server that does not say what it is: ${error instanceof Error ? error.message : error}`
      }
    }),
  )
