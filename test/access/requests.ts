import { dataFile } from '../support/main-job.ts'
import type { Sent } from './http-client.ts'
import { type RequestContent, requestContents } from './request-content.ts'
import { type MatrixRoute, membersOf } from './routes.ts'
import { nextWord } from './things.ts'

/** The parts of a JSON Schema that requests are generated from. */
interface Schema {
  readonly type?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly anyOf?: readonly Schema[]
  readonly default?: unknown
  readonly pattern?: string
  readonly minLength?: number
}

const picture = await dataFile('picture.png')
const boundary = 'matrix-boundary'

/** Resolves placeholders: slots by parameter, resources of the world by name. */
export type Filling = (name: string) => string | undefined

/** A value that matches the schema. */
const fitting = (schema: Schema): unknown => {
  if (schema.default !== undefined) return schema.default
  if (schema.const !== undefined) return schema.const
  if (schema.enum) return schema.enum[0]
  if (schema.anyOf) return fitting(schema.anyOf[0] ?? {})
  if (schema.type === 'array') return [fitting(schema.items ?? {})]
  if (schema.type === 'object' || schema.properties) {
    const { required = [], properties = {} } = schema
    return Object.fromEntries(required.map(name => [name, fitting(properties[name] ?? {})]))
  }
  if (schema.type === 'boolean') return true
  if (schema.type === 'integer' || schema.type === 'number') return 1
  return 'm'.repeat(Math.max(1, schema.minLength ?? 1))
}

/** Replaces placeholders: `$slot` and `@thing` as whole values or within a string (`space-$space`), `#` by a new word, `~$slot` by Base64. */
const filled = (value: unknown, filling: Filling): unknown => {
  if (Array.isArray(value)) return value.map(each => filled(each, filling)).filter(each => each !== undefined)
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).map(([name, each]) => [name, filled(each, filling)] as const)
    return Object.fromEntries(members.filter(([, each]) => each !== undefined))
  }
  if (typeof value !== 'string') return value
  if (/^[$@][a-zA-Z]+$/.test(value)) return filling(value)
  return value
    .replaceAll('#', () => nextWord())
    .replaceAll(/~\$(\w+)/g, (_, name: string) => btoa(filling(`$${name}`) ?? ''))
    .replaceAll(/[$@]([a-zA-Z]+)/g, (text: string) => filling(text) ?? text)
}

const part = (headers: string, content: string | Uint8Array): Buffer =>
  Buffer.concat([Buffer.from(`--${boundary}\r\n${headers}\r\n\r\n`), Buffer.from(content as string), Buffer.from('\r\n')])

const form = ({ fields = {}, filePart = 'File', bytes }: RequestContent, filling: Filling, bag: () => Buffer): Buffer => {
  const texts = Object.entries(fields).map(([name, value]) =>
    part(`Content-Disposition: form-data; name="${name}"`, String(filled(value, filling))),
  )
  const [name, type, content] =
    bytes === 'picture'
      ? (['p.png', 'image/png', picture] as const)
      : bytes === 'bag'
        ? (['bag.zip', 'application/zip', bag()] as const)
        : (['m.txt', 'text/plain', 'words'] as const)
  const disposition = `Content-Disposition: form-data; name="${filePart}"; filename="${name}"\r\nContent-Type: ${type}`
  const file = filePart === false ? [] : [part(disposition, content)]
  return Buffer.concat([...texts, ...file, Buffer.from(`--${boundary}--\r\n`)])
}

const bodyOf = ({ body }: MatrixRoute['declaration'], sending: RequestContent, filling: Filling, bag: () => Buffer) => {
  if (body === undefined) return {}
  if ('multipart' in body) return { type: `multipart/form-data; boundary=${boundary}`, bytes: form(sending, filling, bag) }
  if ('byteBody' in body) {
    if (sending.filePart === false) return {}
    if (sending.body !== undefined) return { type: 'application/json', bytes: Buffer.from(JSON.stringify(filled(sending.body, filling))) }
    return { type: body.contentType ?? 'text/plain', bytes: Buffer.from('some') }
  }
  const value = sending.body === undefined ? fitting(body as Schema) : filled(sending.body, filling)
  return { type: 'application/json', bytes: Buffer.from(JSON.stringify(value)) }
}

/** Names of required path and query parameters without a default. */
const neededOf = ({ declaration: { params, query } }: MatrixRoute): readonly string[] => [
  ...membersOf(params),
  ...((query as Schema | undefined)?.required ?? []).filter(name => (query as Schema).properties?.[name]?.default === undefined),
]

const schemaOf = ({ declaration: { params, query } }: MatrixRoute, name: string): Schema =>
  ({ ...(query as Schema | undefined)?.properties, ...(params as Schema | undefined)?.properties })[name] ?? {}

/** Parameters that cannot be filled, because no rule covers them. */
export const unfilled = (route: MatrixRoute, slots: readonly string[]): readonly string[] => {
  const { with: given = {} } = requestContents[route.name] ?? {}
  const known = new Set([...slots, ...Object.keys(given)])
  return neededOf(route).filter(
    name => !known.has(name) && !(membersOf(route.declaration.query).includes(name) && isPlain(schemaOf(route, name))),
  )
}

const isPlain = ({ pattern, enum: values, type, anyOf }: Schema): boolean =>
  pattern === undefined && (values !== undefined || anyOf !== undefined || type !== undefined)

/** The request of a route at one of its paths, with the ids of its slots. */
export const requestOf = (route: MatrixRoute, address: MatrixRoute['addresses'][number], filling: Filling, bag: () => Buffer): Sent => {
  const sending = requestContents[route.name] ?? {}
  const textOf = (name: string): string | undefined => {
    const given = sending.with?.[name]
    const slot = given === undefined ? filling(`$${name}`) : undefined
    if (slot !== undefined) return slot
    if (given !== undefined) return String(filled(given, filling))
    return undefined
  }
  const path = address.path.replaceAll(/:(\w+)\*?/g, (_, name: string) => encodeURIComponent(textOf(name) ?? 'm'))
  const needed = neededOf(route)
  const query = new URLSearchParams()
  for (const name of membersOf(route.declaration.query)) {
    const value = textOf(name) ?? (needed.includes(name) ? String(fitting(schemaOf(route, name))) : undefined)
    if (value !== undefined) query.append(name, value)
  }
  const { type, bytes } = bodyOf(route.declaration, sending, filling, bag)
  const headers = Object.fromEntries(Object.entries(sending.headers ?? {}).map(([name, value]) => [name, String(filled(value, filling))]))
  return {
    method: address.method,
    path: query.size > 0 ? `${path}?${query}` : path,
    headers: { ...headers, ...(type === undefined ? {} : { 'content-type': headers['content-type'] ?? type }) },
    ...(bytes === undefined ? {} : { body: bytes }),
  }
}
