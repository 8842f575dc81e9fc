import { type ExtractorInfo, Invalid } from 'pounce/sdk'
import { assertSafeJson, isJsonObject } from 'pounce/sdk/kit'

const maxLabels = 50

/** An extractor's own description: its document, and the key of a private one. */
export interface SentExtractor {
  readonly info: ExtractorInfo
  readonly key: string | null
}

/** Faults in Clowder 1.x's wording, by path: `obj.name` → `error.path.missing`. */
type Faults = Record<string, readonly { readonly msg: string; readonly args: readonly string[] }[]>

const strings = (value: unknown): string[] => (Array.isArray(value) && value.every(item => typeof item === 'string') ? value : [])

const textIn = (value: unknown): string => (typeof value === 'string' ? value : '')

const repositories = (value: unknown): { repType: string; repUrl: string }[] => {
  const all = Array.isArray(value) ? value : [value]
  return all.filter(isJsonObject).map(({ repType, repUrl }) => ({ repType: textIn(repType), repUrl: textIn(repUrl) }))
}

const fault = (msg: string) => [{ msg, args: [] }]

const faultsOf = (raw: Record<string, unknown>): Faults => {
  const faults: Faults = {}
  for (const member of ['name', 'version', 'description', 'author']) {
    if (!(member in raw)) faults[`obj.${member}`] = fault('error.path.missing')
    else if (typeof raw[member] !== 'string') faults[`obj.${member}`] = fault('error.expected.jsstring')
  }
  for (const member of ['contexts', 'repository']) if (!(member in raw)) faults[`obj.${member}`] = fault('error.path.missing')
  if (raw['repository'] !== undefined && typeof raw['repository'] !== 'object') faults['obj.repository'] = fault('error.expected.jsarray')
  return faults
}

/** A refusal with v1's members and an additional message. */
const refuse = (faults: Faults, reason: string): never => {
  throw new Invalid(reason, { details: { status: 'KO', message: faults, reason } })
}

const requireName = (name: string): void => {
  // Queues of private extractors have this prefix: a public extractor with such a name would receive their jobs.
  if (name.startsWith('private.')) refuse({ 'obj.name': fault('error.invalid') }, 'name must not begin with "private."')
  if (name.length > 200 || !/^[\w.:@ -]+$/.test(name)) {
    refuse({ 'obj.name': fault('error.invalid') }, 'name must have 1 to 200 letters, digits or any of _ . : @ - and blank')
  }
}

const keyIn = (value: unknown): string | null => {
  if (value === undefined || value === null || value === '') return null
  if (typeof value === 'string' && /^[\w.:@-]{1,100}$/.test(value)) return value
  return refuse(
    { 'obj.unique_key': fault('error.invalid') },
    'The key of an extractor must have 1 to 100 letters, digits or any of _ . : @ -',
  )
}

/**
 * Reads an `extractor_info.json`. The members that v1 requires must exist; others get their default when they are absent or of another
 * type, as in v1, so that old documents still register. `key` takes precedence over `unique_key` in the document.
 */
export const readExtractorInfo = (raw: unknown, maxBytes: number, key?: string): SentExtractor => {
  if (!isJsonObject(raw))
    return refuse({ obj: fault('error.expected.jsobject') }, 'An extractor registers with a JSON object, its extractor_info.json')
  assertSafeJson(raw, 'extractor_info')
  const faults = faultsOf(raw)
  const wrong = Object.keys(faults).map(path => path.slice('obj.'.length))
  if (wrong.length > 0) refuse(faults, `${wrong.join(', ')}: missing, or of another type. An extractor_info.json needs them`)
  const bytes = Buffer.byteLength(JSON.stringify(raw))
  if (bytes > maxBytes)
    refuse(
      { obj: fault('error.maxLength') },
      `The document has ${bytes} bytes; it can have ${maxBytes}. Put long descriptions and schemas at an address and name that`,
    )
  requireName(textIn(raw['name']))
  const process = isJsonObject(raw['process']) ? raw['process'] : {}
  const info: ExtractorInfo = {
    name: textIn(raw['name']),
    version: textIn(raw['version']),
    description: textIn(raw['description']),
    author: textIn(raw['author']),
    contributors: strings(raw['contributors']),
    contexts: raw['contexts'],
    repository: repositories(raw['repository']),
    external_services: strings(raw['external_services']),
    libraries: strings(raw['libraries']),
    bibtex: strings(raw['bibtex']),
    maturity: textIn(raw['maturity']) || 'Development',
    defaultLabels: strings(raw['labels'] ?? raw['defaultLabels']).slice(0, maxLabels),
    process: { dataset: strings(process['dataset']), file: strings(process['file']), metadata: strings(process['metadata']) },
    categories: Array.isArray(raw['categories']) ? strings(raw['categories']) : ['EXTRACT'],
    parameters: isJsonObject(raw['parameters']) ? raw['parameters'] : {},
  }
  return { info, key: keyIn(key ?? raw['unique_key']) }
}
