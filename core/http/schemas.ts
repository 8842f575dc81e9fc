import type { Ajv, ValidateFunction } from 'ajv'
import type { s } from 'pounce/sdk'
import { loadAjv } from './lean-modules.ts'

/** A time with its offset, such as `2026-01-05T10:00:00Z`. */
const isDateTime = (text: string): boolean =>
  /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:[Zz]|[+-]\d\d:?\d\d)$/.test(text) && !Number.isNaN(Date.parse(text))

const options = {
  strict: true,
  strictTypes: false,
  strictTuples: false,
  strictRequired: false,
  allowUnionTypes: true,
  useDefaults: true,
  verbose: true,
  // Schemas live as long as the process: the cache by object is enough, ids are not needed.
  addUsedSchema: false,
  formats: {
    binary: true,
    'date-time': isDateTime,
    date: /^\d{4}-\d\d-\d\d$/,
    email: /^[^\s@]{1,64}@[^\s@]{1,255}$/,
    uri: (text: string) => URL.canParse(text),
  },
  keywords: ['secret'],
} satisfies ConstructorParameters<typeof Ajv>[0]

let made: Ajv | undefined
const theAjv = (): Ajv => {
  made ??= new (loadAjv().Ajv)(options)
  return made
}

/** Annotations that were met before. ajv does not tell. */
const known = new Set<string>()

/** Compiles a schema strictly; members named `x-…` are annotations. Throws when the schema itself is wrong. */
export const compileSchema = (schema: s.TSchema): ValidateFunction => {
  const ajv = theAjv()
  for (const name of annotations(schema)) {
    if (known.has(name)) continue
    known.add(name)
    ajv.addKeyword(name)
  }
  return ajv.compile(schema)
}

const annotations = (value: unknown, found = new Set<string>()): ReadonlySet<string> => {
  if (typeof value !== 'object' || value === null) return found
  for (const [name, child] of Object.entries(value)) {
    if (name.startsWith('x-')) found.add(name)
    annotations(child, found)
  }
  return found
}
