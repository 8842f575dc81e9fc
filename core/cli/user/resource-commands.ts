import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { isJsonObject } from 'pounce/sdk/kit'
import { messageOf, StartupError } from '../../kernel/startup-error.ts'
import { UsageError } from '../built-in.ts'
import { visible } from '../pretty-log.ts'
import { accountOf, clientOf, numberOption, type RunUserCommand, textOption } from './command-context.ts'
import { contentsOf, isoDate } from './dataset-contents.ts'
import type { ServerClient } from './server-client.ts'
import { placeOf, type ResolvedTarget, readTarget, resolveTarget, resourcesOf } from './target.ts'

interface Row {
  readonly kind: string
  readonly name: string
  readonly size?: number | undefined
  readonly created: string
  readonly id: string
}

async function* rowsOf(client: ServerClient, path: string, kind: string): AsyncIterable<Row> {
  for await (const { id, name, created } of resourcesOf(client, path, kind)) yield { kind, name, created: isoDate(created), id }
}

async function* listed(
  client: ServerClient,
  target: ResolvedTarget,
  { isDeep, isDatasets }: { isDeep: boolean; isDatasets: boolean },
): AsyncIterable<Row> {
  if (target.kind === 'root') yield* rowsOf(client, isDatasets ? '/api/datasets' : '/api/spaces', isDatasets ? 'dataset' : 'space')
  else if (target.kind === 'space') {
    yield* rowsOf(client, `/api/spaces/${target.id}/collections`, 'collection')
    yield* rowsOf(client, `/api/spaces/${target.id}/datasets`, 'dataset')
  } else if (target.kind === 'collection') {
    yield* rowsOf(client, `/api/collections/${target.id}/getChildCollections`, 'collection')
    yield* rowsOf(client, `/api/collections/${target.id}/datasets`, 'dataset')
  } else if (target.kind === 'file') yield { kind: 'file', name: target.name, size: target.size, created: '', id: target.id }
  else {
    const place = placeOf(target)
    if (!place) return
    for await (const { kind, name, path, size, created, id } of contentsOf(client, place, { isDeep }))
      yield { kind, name: [...path, name].join('/'), ...(size === undefined ? {} : { size }), created, id }
  }
}

/** Lists the contents of a resource. */
export const list: RunUserCommand = async context => {
  const target = readTarget(String(context.arguments[0] ?? '/'))
  const client = await clientOf(context, target.page)
  const limit = numberOption(context, 'limit', { usual: 1000, min: 1, max: 1_000_000 })
  const choice = { isDeep: context.options['recursive'] === true, isDatasets: context.options['datasets'] === true }
  const rows: Row[] = []
  for await (const row of listed(client, await resolveTarget(client, target), choice)) {
    if (rows.length === limit) {
      context.output.err(`Only the first ${limit} are shown: set --limit for more\n`)
      break
    }
    rows.push(row)
  }
  return rows
}

interface Hit {
  readonly id?: string
  readonly name?: string
  readonly resource_type?: string
}

interface HitPage {
  readonly results?: readonly Hit[]
  readonly next?: string
}

const hitsPerPage = 100

/** Searches all accessible resources. */
export const search: RunUserCommand = async context => {
  const client = await clientOf(context)
  const limit = numberOption(context, 'limit', { usual: 20, min: 1, max: 10_000 })
  const kind = textOption(context, 'kind')
  const query = (context.arguments[0] as readonly string[]).join(' ')
  const found: Hit[] = []
  for (let from = 0; found.length < limit; ) {
    const parameters = { query, from, size: Math.min(limit, hitsPerPage), ...(kind === undefined ? {} : { resource_type: kind }) }
    const { results = [], next } = await client.json<HitPage>('GET', '/api/search', { query: parameters })
    found.push(...results)
    const start = Number(new URLSearchParams(next?.split('?')[1]).get('from'))
    if (next === undefined || !(start > from)) break
    from = start
  }
  const hits = found.slice(0, limit)
  return context.asJson ? hits : hits.map(({ resource_type: kindOfHit = '', name = '', id = '' }) => ({ kind: kindOfHit, name, id }))
}

type Annotated = Exclude<ResolvedTarget, { readonly kind: 'root' | 'folder' }>

const annotated = async (client: ServerClient, text: ReturnType<typeof readTarget>): Promise<Annotated> => {
  const target = await resolveTarget(client, text)
  if (target.kind === 'root' || target.kind === 'folder')
    throw new StartupError('Tags and metadata belong to files, datasets, collections and spaces: specify one of these')
  return target
}

interface Tags {
  readonly tags: readonly (string | { readonly name: string })[]
}

/** Adds, removes or lists tags. */
export const tag: RunUserCommand = async context => {
  const [text, action = 'list', names] = context.arguments as [string, string | undefined, readonly string[]]
  if (!['add', 'remove', 'list'].includes(action)) throw new UsageError(`Unknown action ${action}: use add, remove or list`)
  if ((action === 'list') !== (names.length === 0))
    throw new UsageError(action === 'list' ? 'list takes no tags' : `Specify the tags to ${action}`)
  const wanted = readTarget(text)
  const client = await clientOf(context, wanted.page)
  const { kind, id } = await annotated(client, wanted)
  if (kind === 'space') throw new StartupError('Spaces have no tags')
  const path = `/api/${kind}s/${id}/tags`
  if (action === 'add') await client.json('POST', path, { json: { tags: names }, isRepeatable: true })
  if (action === 'remove') await client.json('POST', `${path}/remove`, { json: { tags: names }, isRepeatable: true })
  const { tags } = await client.json<Tags>('GET', path)
  const left = tags.map(one => (typeof one === 'string' ? one : one.name))
  if (context.asJson) return { kind, id, tags: left }
  return left.length === 0 ? [] : left.map(visible).join('\n')
}

type Content = Readonly<Record<string, unknown>>

interface MetadataDocument {
  readonly '@context': unknown
  readonly id: string
  readonly created_at: string
  readonly agent: { readonly '@type'?: string; readonly name?: string; readonly user_id?: string }
  readonly content: Content | readonly unknown[]
}

const baseContext = 'https://clowder.ncsa.illinois.edu/contexts/metadata.jsonld'

/** Parses JSON values such as `17` and `true`; other input is text, and so are integers that a number would round, such as long identifiers, and numbers out of range. */
const jsonOrText = (text: string): unknown => {
  try {
    const value: unknown = JSON.parse(text)
    const isBeyondNumbers = typeof value === 'number' && (/^-?\d+$/.test(text) ? !Number.isSafeInteger(value) : !Number.isFinite(value))
    return isBeyondNumbers ? text : value
  } catch {
    return text
  }
}

const readDocument = async (path: string): Promise<Content> => {
  try {
    const value: unknown = JSON.parse(path === '-' ? await text(process.stdin) : await readFile(path, 'utf8'))
    if (isJsonObject(value)) return value
  } catch (error) {
    throw new StartupError(`${path === '-' ? 'Standard input' : path} is not readable as JSON: ${messageOf(error)}`, { cause: error })
  }
  throw new StartupError(`${path} must contain a JSON object`)
}

const contentIn = async (pairs: readonly string[]): Promise<Content> => {
  const parts = pairs.map(async (pair): Promise<Content> => {
    if (pair === '-' || pair.startsWith('@')) return readDocument(pair === '-' ? pair : pair.slice(1))
    const at = pair.indexOf('=')
    if (at < 1) throw new UsageError(`${pair} is not valid metadata: use key=value, @file.json, or - for JSON from standard input`)
    return { [pair.slice(0, at)]: jsonOrText(pair.slice(at + 1)) }
  })
  return Object.assign({}, ...(await Promise.all(parts)))
}

const addContent = async (client: ServerClient, { kind, id }: Annotated, given: Content): Promise<void> => {
  const { '@context': context = baseContext, ...content } = given
  await client.json('POST', '/api/metadata.jsonld', { json: { '@context': context, [`${kind}_id`]: id, content } })
}

/** Replaces the caller's documents with a single one, which is stored before the old ones are deleted. */
const setContent = async (
  client: ServerClient,
  target: Annotated,
  documents: readonly MetadataDocument[],
  given: Content,
): Promise<void> => {
  const me = await accountOf(client)
  const own = documents.filter(({ agent, content }) => agent.user_id?.endsWith(`/${me.id}`) && isJsonObject(content))
  const oldestFirst = own.toReversed()
  const contexts = [...oldestFirst.map(document => document['@context']), given['@context'] ?? baseContext].flat()
  const different = [...new Map(contexts.map(context => [JSON.stringify(context), context])).values()]
  const before = oldestFirst.map(({ content }) => content as Content)
  await addContent(client, target, Object.assign({}, ...before, given, { '@context': different.length === 1 ? different[0] : different }))
  for (const { id } of own) await client.json('DELETE', `/api/metadata.jsonld/${id}`)
}

/** Shows, sets or adds metadata. */
export const metadata: RunUserCommand = async context => {
  const [address, action = 'get', pairs] = context.arguments as [string, string | undefined, readonly string[]]
  if (!['get', 'set', 'add'].includes(action)) throw new UsageError(`Unknown action ${action}: use get, set or add`)
  if ((action === 'get') !== (pairs.length === 0))
    throw new UsageError(action === 'get' ? 'get takes no values' : `Specify the metadata to ${action}: key=value or @file.json`)
  const wanted = readTarget(address)
  const content = await contentIn(pairs)
  const client = await clientOf(context, wanted.page)
  const target = await annotated(client, wanted)
  const path = `/api/${target.kind}s/${target.id}/metadata.jsonld`
  const read = () => client.json<readonly MetadataDocument[]>('GET', path)
  if (action === 'add') await addContent(client, target, content)
  if (action === 'set') await setContent(client, target, await read(), content)
  const documents = await read()
  if (context.asJson) return documents
  return documents.flatMap(({ agent, content }) => Object.entries(content).map(([key, value]) => ({ by: agent.name ?? '', key, value })))
}
