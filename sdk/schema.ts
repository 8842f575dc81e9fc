import type { Static, TSchema, TUnsafe } from 'typebox'
import type { EventStream } from './event-stream.ts'
import * as Type from './schema-builders.ts'

export * from './schema-builders.ts'

const idPattern = '^[0-9a-f]{24}$'

/** A resource's id: 24 lower-case hex digits. In a path or query a malformed one is answered like an unknown one (404). */
export const id = () => Type.String({ pattern: idPattern, description: 'An id: 24 lower-case hex digits' })

/** True of text that has the form of an id. */
export const isId = (text: unknown): text is string => typeof text === 'string' && /^[0-9a-f]{24}$/.test(text)

/** A line a person typed: 1 to `maxLength` characters, none of them a control character. */
export const line = (maxLength = 500) => Type.String({ minLength: 1, maxLength, pattern: '^[^\\u0000-\\u001f\\u007f]*$' })

/** A line that names somebody: not only blanks. */
export const name = (maxLength: number) => Type.String({ minLength: 1, maxLength, pattern: '^(?=.*\\S)[^\\u0000-\\u001f\\u007f]*$' })

/** The name of a file or folder, which must be able to stand in a path on any system. */
export const filename = () =>
  Type.String({
    minLength: 1,
    maxLength: 255,
    pattern: '^(?!\\.{1,2}$)[^\\u0000-\\u001f\\u007f/\\\\]*$',
    description: 'A name without slashes, backslashes and control characters, other than `.` and `..`',
  })

/** Text a person typed: may be empty and may have line breaks and tabs, no other control characters. */
export const prose = (maxLength = 10_000) =>
  Type.String({ maxLength, pattern: '^[^\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f]*$' })

/** A date as Clowder 1.x prints it: Java `Date.toString()`, such as `Wed Jun 20 11:40:25 UTC 2018`. Always UTC here. */
export const v1Date = () => Type.String({ description: 'Such as `Wed Jun 20 11:40:25 UTC 2018`' })

const days = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const two = (n: number): string => (n < 10 ? `0${n}` : `${n}`)

/** Prints a time (a Date or ISO text) in the form of `v1Date`. */
export const toV1Date = (time: Date | string): string => {
  const date = typeof time === 'string' ? new Date(time) : time
  const clock = `${two(date.getUTCHours())}:${two(date.getUTCMinutes())}:${two(date.getUTCSeconds())}`
  return `${days[date.getUTCDay()]} ${months[date.getUTCMonth()]} ${two(date.getUTCDate())} ${clock} UTC ${date.getUTCFullYear()}`
}

/** Key of the schema annotation that holds the name of a model. */
export const modelName = 'x-model'

/**
 * Names a schema in the field's words: OpenAPI shows it once, as `#/components/schemas/<name>`, and clients generated from it get a type of that
 * name. Validation sees the schema as it is. A name belongs to one schema; an OpenAPI document of two different ones is refused. The example,
 * where a written one reads better than the one derived from the members, must be valid.
 */
export const model = <T extends TSchema>(name: string, schema: T, example?: Static<T>): T => ({
  ...schema,
  [modelName]: name,
  ...(example === undefined ? {} : { examples: [example] }),
})

/** Key of the schema annotation that names a model of another plugin. */
export const otherModelName = 'x-other-model'

/** An object that is a model of another plugin, which OpenAPI refers to by its name. Validation sees any object. */
export const otherModel = (name: string): TUnsafe<Readonly<Record<string, unknown>>> =>
  Type.Unsafe<Readonly<Record<string, unknown>>>({ type: 'object', [otherModelName]: name })

/** Key of the schema annotation of a union of objects that says by which member they differ, and the model for each value of it. */
export const discriminator = 'x-discriminator'

/** Clowder's `{"status":"success"}`. */
export const success = (): TUnsafe<{ readonly status: string }> =>
  Type.Unsafe<{ readonly status: string }>(model('Success', Type.Object({ status: Type.Literal('success') })))

/** Any JSON value, stored and returned verbatim. */
export const json = () => Type.Unknown()

/** Key of the schema annotation that says how a body travels when it is not JSON. */
export const bodyKind = 'x-body'

/** A body sent as `text/plain`. */
export const text = (): TUnsafe<string> => Type.Unsafe<string>({ type: 'string', [bodyKind]: 'text' })

/** No body at all. */
export const empty = (): TUnsafe<undefined> => Type.Unsafe<undefined>({ [bodyKind]: 'empty' })

/**
 * A body of bytes: an answer gives a `Bytes`, see `bytes.ts`. Bytes that a handler makes say what they are, by media type:
 * `s.bytes<Bytes>({ 'text/csv': s.bytes(), 'application/json': s.Array(Row) })`. Those that someone sent in may be of any type.
 */
export const bytes = <T>(content?: Readonly<Record<string, TSchema>>): TUnsafe<T> =>
  Type.Unsafe<T>({ type: 'string', format: 'binary', [bodyKind]: 'bytes', ...(content ? { 'x-content': content } : {}) })

/** Server-sent events: an answer gives an `EventStream`, and stays open. Of each event, `data` is what `item` says. */
export const events = <T extends TSchema>(item: T): TUnsafe<EventStream> =>
  Type.Unsafe<EventStream>({ [bodyKind]: 'events', 'x-content': { 'text/event-stream': item } })

/** A JSON array of any length, written row by row as they come, with back-pressure: for lists that v1 does not page. */
export const rows = <T extends TSchema>(item: T): TUnsafe<AsyncIterable<Static<T>>> =>
  Type.Unsafe<AsyncIterable<Static<T>>>({ type: 'array', items: item, [bodyKind]: 'rows' })

/** A JSON array that is given whole, or row by row as for `rows`. */
export const list = <T extends TSchema>(item: T): TUnsafe<readonly Static<T>[] | AsyncIterable<Static<T>>> =>
  Type.Unsafe<readonly Static<T>[] | AsyncIterable<Static<T>>>({ type: 'array', items: item, [bodyKind]: 'rows' })

/** A query parameter that may come once or several times; always an array inside. */
export const repeated = <T extends TSchema>(item: T) => Type.Array(item, { maxItems: 1000, 'x-repeated': true })

/** `true`, `false`, also written `True`, `1`, `yes` and so on in a query. */
export const flag = (preset: boolean) => Type.Boolean({ default: preset })

export type { Static, TSchema }
