import type { ErrorObject, ValidateFunction } from 'ajv'
import { isSettings, lacksRequired, type Node, type Part, recordOf, withDefaults } from './schema-tree.ts'

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
    here = here && (here.properties?.[key] ?? here.items ?? recordOf(here))
    if (here?.secret) return true
  }
  return false
}

/** Only the members that something was given for: compiling the rest would take most of the time of a start. */
const narrowed = (node: Node, given: unknown): Node => {
  if (!node.properties || !isSettings(given)) return node
  const { required: _required, ...rest } = node
  const touched = Object.entries(node.properties).filter(([key]) => given[key] !== undefined)
  return { ...rest, properties: Object.fromEntries(touched.map(([key, below]) => [key, narrowed(below, given[key])])) }
}

const compile = async (schema: Node): Promise<ValidateFunction> => {
  const { Ajv } = await import('ajv')
  const ajv = new Ajv({ strict: true, allErrors: true, allowUnionTypes: true, verbose: true, validateSchema: false })
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
 * Fills in the defaults of a part and checks it. `given` holds what was set by somebody; where that is nothing and nothing is
 * missing, the defaults stand as they are.
 */
export const checkPart = async (
  part: Part,
  settings: unknown,
  given: unknown,
  sourceOf: (name: string) => string | undefined,
): Promise<CheckedPart> => {
  const value = withDefaults(settings, { ...part.schema, default: part.schema.default ?? {} })
  const isIncomplete = lacksRequired(value, part.schema)
  const touched = isIncomplete ? part.schema : narrowed(part.schema, given ?? {})
  if (!isIncomplete && Object.keys(touched.properties ?? {}).length === 0) return { value, problems: [] }
  const validate = await compile(touched)
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
