import type { ErrorObject, ValidateFunction } from 'ajv'
import { lacksRequired, type Node, type Part, withDefaults } from './schema-tree.ts'

/** A part's settings with its defaults, or what is wrong with them. */
export interface CheckedPart {
  readonly value: unknown
  readonly problems: readonly string[]
}

const inWords = (error: ErrorObject, value: unknown): string => {
  if (error.keyword === 'required') return 'is missing and has no default'
  return `${error.message ?? 'is wrong'} (is ${JSON.stringify(value)})`
}

const isSecret = (node: Node, path: readonly string[]): boolean => {
  let here: Node | undefined = node
  for (const key of path) {
    here = here?.properties?.[key]
    if (here?.secret) return true
  }
  return false
}

const compile = async (schema: Node): Promise<ValidateFunction> => {
  const { Ajv } = await import('ajv')
  const ajv = new Ajv({ strict: true, allErrors: true, allowUnionTypes: true, verbose: true })
  ajv.addVocabulary(['secret'])
  return ajv.compile(schema)
}

const pathOf = (part: Part, error: ErrorObject): string[] => {
  const inner = error.instancePath.split('/').slice(1)
  const missing = error.keyword === 'required' ? [String((error.params as { missingProperty: string }).missingProperty)] : []
  return [...part.path, ...inner, ...missing]
}

/** Alternatives each complain; the complaint about all of them says enough. */
const isDetail = (error: ErrorObject): boolean => error.schemaPath.includes('/anyOf/')

/**
 * Fills in the defaults of a part and checks it. Where nothing was set and nothing is missing the defaults stand as they are,
 * so that a start with few settings compiles few schemas. `sourceOf` names where a setting came from.
 */
export const checkPart = async (
  part: Part,
  given: unknown,
  isTouched: boolean,
  sourceOf: (name: string) => string | undefined,
): Promise<CheckedPart> => {
  const value = withDefaults(given, { ...part.schema, default: part.schema.default ?? {} })
  if (!isTouched && !lacksRequired(value, part.schema)) return { value, problems: [] }
  const validate = await compile(part.schema)
  if (validate(value)) return { value, problems: [] }
  const problems = (validate.errors ?? [])
    .filter(error => !isDetail(error))
    .map(error => {
      const path = pathOf(part, error)
      const name = path.join('.')
      const source = sourceOf(name)
      const shown = isSecret(part.schema, path.slice(part.path.length)) ? '…' : error.data
      return `${name} ${inWords(error, shown)}${source === undefined ? '' : `, from ${source}`}`
    })
  return { value, problems }
}
