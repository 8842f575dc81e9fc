import type { Static, TSchema, TUnsafe } from 'typebox'
import type { EventStream } from './event-stream.ts'
import * as Type from './schema-builders.ts'

export * from './schema-builders.ts'

const idPattern = '^[0-9a-f]{24}$'

/** Key of the schema annotation with the kind of resource that an id refers to. */
export const idKind = 'x-kind'

/**
 * A resource id: 24 lower-case hex digits. In a path or query, a malformed id is answered like an unknown one (404): `Folder not found …` for kind `folder`. By
 * default the kind follows from the permission that is checked, or from the parameter name.
 */
export const id = (kind?: string) =>
  Type.String({ pattern: idPattern, description: 'An id: 24 lower-case hex digits', ...(kind === undefined ? {} : { [idKind]: kind }) })

/** True for a well-formed id. */
export const isId = (text: unknown): text is string => typeof text === 'string' && /^[0-9a-f]{24}$/.test(text)

/** A single line of user input: 1 to `maxLength` characters, not only whitespace, no control characters. */
export const line = (maxLength = 500) => Type.String({ minLength: 1, maxLength, pattern: '^(?=\\s*\\S)[^\\u0000-\\u001f\\u007f]*$' })

/** The name of a file or folder, valid in paths on any system. */
export const filename = () =>
  Type.String({
    minLength: 1,
    maxLength: 255,
    pattern: '^(?=\\s*\\S)(?!\\.{1,2}$)[^\\u0000-\\u001f\\u007f-\\u009f/\\\\]*$',
    description: 'A name that is not blank, has no slashes, backslashes or control characters, and is not `.` or `..`',
  })

/** User input of any length up to `maxLength`, possibly empty, with line breaks and tabs but no other control characters. */
export const prose = (maxLength = 10_000) =>
  Type.String({ maxLength, pattern: '^[^\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f]*$' })

/** A date as Clowder 1.x prints it: Java `Date.toString()`, such as `Wed Jun 20 11:40:25 UTC 2018`. Always UTC here. */
export const v1Date = () => Type.String({ description: 'Such as `Wed Jun 20 11:40:25 UTC 2018`' })

const days = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const two = (n: number): string => (n < 10 ? `0${n}` : `${n}`)

/** The format of stored times. */
const storedTime = /^\d{4}-\d\d-\d\dT(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/

/** The day printed last, as lists have many times of one day. */
let lastDay = { day: '', before: '', after: '' }

const printDay = (day: string): typeof lastDay => {
  const date = new Date(day)
  const before = `${days[date.getUTCDay()]} ${months[date.getUTCMonth()]} ${two(date.getUTCDate())} `
  return { day, before, after: ` UTC ${date.getUTCFullYear()}` }
}

/** Formats a time (a Date or ISO 8601 text) like `v1Date`. */
export const toV1Date = (time: Date | string): string => {
  const text = typeof time === 'string' && storedTime.test(time) ? time : new Date(time).toISOString()
  const day = text.slice(0, text.indexOf('T'))
  if (day !== lastDay.day) lastDay = printDay(day)
  return lastDay.before + text.slice(day.length + 1, day.length + 9) + lastDay.after
}

/** Key of the schema annotation with the name of a model. */
export const modelName = 'x-model'

/**
 * Names a schema: OpenAPI has it once, as `#/components/schemas/<name>`, and generated clients get a type of that name. Validation is unaffected. A name must
 * be used for one schema only; the start refuses two different ones. Give a valid example where it reads better than the one derived from the
 * members.
 */
export const model = <T extends TSchema>(name: string, schema: T, example?: Static<T>): T => ({
  ...schema,
  [modelName]: name,
  ...(example === undefined ? {} : { examples: [example] }),
})

/** Key of the schema annotation that refers to a model of another plugin. */
export const otherModelName = 'x-other-model'

/** An object that is a model of another plugin; OpenAPI refers to it by name. Validation accepts any object. */
export const otherModel = (name: string): TUnsafe<Readonly<Record<string, unknown>>> =>
  Type.Unsafe<Readonly<Record<string, unknown>>>({ type: 'object', [otherModelName]: name })

/** Key of the schema annotation of a union of objects: the member that distinguishes them, and the model for each of its values. */
export const discriminator = 'x-discriminator'

/** Clowder's `{"status":"success"}`. */
export const success = (): TUnsafe<{ readonly status: string }> =>
  Type.Unsafe<{ readonly status: string }>(model('Success', Type.Object({ status: Type.Literal('success') })))

/** Any JSON value, stored and returned unchanged. */
export const json = () => Type.Unknown()

/** Key of the schema annotation with the encoding of a body that is not JSON. */
export const bodyKind = 'x-body'

/** A body sent as `text/plain`. */
export const text = (): TUnsafe<string> => Type.Unsafe<string>({ type: 'string', [bodyKind]: 'text' })

/** No body. */
export const empty = (): TUnsafe<undefined> => Type.Unsafe<undefined>({ [bodyKind]: 'empty' })

/**
 * A body of bytes: the handler returns a `Bytes`, see `bytes.ts`. For generated bytes list the media types: `s.bytes<Bytes>({ 'text/csv': s.bytes(),
 * 'application/json': s.Array(Row) })`. Uploaded bytes may have any type.
 */
export const bytes = <T>(content?: Readonly<Record<string, TSchema>>): TUnsafe<T> =>
  Type.Unsafe<T>({ type: 'string', format: 'binary', [bodyKind]: 'bytes', ...(content ? { 'x-content': content } : {}) })

/** Server-sent events: the handler returns an `EventStream`, and the response stays open. `item` is the schema of each event's `data`. */
export const events = <T extends TSchema>(item: T): TUnsafe<EventStream> =>
  Type.Unsafe<EventStream>({ [bodyKind]: 'events', 'x-content': { 'text/event-stream': item } })

/** A JSON array of any length, streamed row by row with back-pressure: for lists that v1 does not page. */
export const rows = <T extends TSchema>(item: T): TUnsafe<AsyncIterable<Static<T>>> =>
  Type.Unsafe<AsyncIterable<Static<T>>>({ type: 'array', items: item, [bodyKind]: 'rows' })

/** A JSON object of lists of any length, streamed like `rows`. */
export const rowsByName = <T extends TSchema>(item: T): TUnsafe<AsyncIterable<readonly [name: string, rows: AsyncIterable<Static<T>>]>> =>
  Type.Unsafe<AsyncIterable<readonly [name: string, rows: AsyncIterable<Static<T>>]>>({
    ...Type.Record(Type.String(), Type.Array(item)),
    [bodyKind]: 'rows',
  })

/** A JSON array, returned whole or streamed row by row as with `rows`. */
export const list = <T extends TSchema>(item: T): TUnsafe<readonly Static<T>[] | AsyncIterable<Static<T>>> =>
  Type.Unsafe<readonly Static<T>[] | AsyncIterable<Static<T>>>({ type: 'array', items: item, [bodyKind]: 'rows' })

/** A query parameter that may be repeated; always an array in the handler. */
export const repeated = <T extends TSchema>(item: T) => Type.Array(item, { maxItems: 1000, 'x-repeated': true })

/** A boolean; in a query `True`, `1`, `yes` and so on are also accepted. */
export const flag = (preset: boolean) => Type.Boolean({ default: preset })

export type { Static, TSchema }
