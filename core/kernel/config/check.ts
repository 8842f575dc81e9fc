import type { ErrorObject, ValidateFunction } from 'ajv'
import { checkedEmail } from 'pounce/sdk/kit'
import { describe, plainlyFits, type SchemaShape } from '../../json-schema.ts'
import { isSettings, lacksRequired, type Node, type Part, recordOf, withDefaults } from './schema-tree.ts'

/** A part's settings with its defaults, and the problems found. */
export interface CheckedPart {
  readonly value: unknown
  readonly problems: readonly string[]
}

/** The source of a value. */
export interface Origin {
  readonly source: string
  /** The setting and its text as typed, if the source consists of one setting. */
  readonly typed?: { readonly name: string; readonly text: string } | undefined
}

/** Rules that the schema describes better than the message of ajv. */
const describedRules = /^(?:anyOf|enum|const|format|type|pattern|(?:min|max)(?:imum|Length|Items))$/

/** The value as typed, if it was converted, for instance to a number. */
const asTyped = (value: unknown, text: string | undefined): string =>
  typeof value === 'number' ? (text ?? String(value)) : text === undefined || typeof value === 'string' ? JSON.stringify(value) : text

const ruleOf = ({ keyword, message, parentSchema = {} }: ErrorObject, shown: string): string => {
  if (keyword === 'required') return 'is missing and has no default'
  const rule = describedRules.test(keyword) ? `must be ${describe(parentSchema as SchemaShape)}` : (message ?? 'is wrong')
  return `${rule} (is ${shown})`
}

const isSecret = (node: Node, path: readonly string[]): boolean => {
  let here: Node | undefined = node
  for (const key of path) {
    here = here && (here.properties?.[key] ?? here.items ?? recordOf(here))
    if (here?.secret) return true
  }
  return false
}

/** Only the members that are set: compiling the rest would take most of the start time. */
const narrowed = (node: Node, given: unknown): Node => {
  if (!node.properties || !isSettings(given)) return node
  const { required: _required, ...rest } = node
  const configured = Object.entries(node.properties).filter(([key]) => given[key] !== undefined)
  return { ...rest, properties: Object.fromEntries(configured.map(([key, below]) => [key, narrowed(below, given[key])])) }
}

const isEmail = (text: string): boolean => {
  try {
    return checkedEmail(text) !== ''
  } catch {
    return false
  }
}

const compile = async (schema: Node): Promise<ValidateFunction> => {
  const { Ajv } = await import('ajv')
  const ajv = new Ajv({ strict: true, allErrors: true, allowUnionTypes: true, verbose: true, validateSchema: false })
  ajv.addVocabulary(['secret', 'formerName'])
  ajv.addFormat('email', isEmail)
  return ajv.compile(schema)
}

const pathOf = (part: Part, error: ErrorObject): string[] => {
  const inner = error.instancePath.split('/').slice(1)
  const missing = error.keyword === 'required' ? [String((error.params as { missingProperty: string }).missingProperty)] : []
  return [...part.path, ...inner, ...missing]
}

/** True of the errors of single alternatives: the error of the union is enough. */
const isDetail = (error: ErrorObject): boolean => error.schemaPath.includes('/anyOf/')

/**
 * Fills in the defaults of a part and validates it. `given` holds the configured values; if it is undefined and no required setting
 * is missing, the defaults are not validated.
 */
export const checkPart = async (
  part: Part,
  settings: unknown,
  given: unknown,
  originOf: (name: string) => Origin | undefined,
): Promise<CheckedPart> => {
  const value = withDefaults(settings, { ...part.schema, default: part.schema.default ?? {} })
  const isIncomplete = lacksRequired(value, part.schema)
  // Most installations only set an address, a folder and an account: loading ajv for these would take a tenth of the start time.
  if (!isIncomplete && plainlyFits(part.schema, given ?? {}, { email: isEmail })) return { value, problems: [] }
  const configured = isIncomplete ? part.schema : narrowed(part.schema, given ?? {})
  if (!isIncomplete && Object.keys(configured.properties ?? {}).length === 0) return { value, problems: [] }
  const validate = await compile(configured)
  if (validate(value)) return { value, problems: [] }
  const problems = (validate.errors ?? [])
    .filter(error => !isDetail(error))
    .map(error => {
      const path = pathOf(part, error)
      const name = path.join('.')
      const origin = originOf(name)
      const text = origin?.typed?.name === name ? origin.typed.text : undefined
      const shown = isSecret(part.schema, path.slice(part.path.length)) ? '…' : asTyped(error.data, text)
      return `${name} ${ruleOf(error, shown)}${origin === undefined ? '' : `, from ${origin.source}`}`
    })
  return { value, problems }
}
