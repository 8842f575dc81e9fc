import { ExtractorInfo, Invalid, type Stored, s } from 'pounce/sdk'
import type { ExtractorRecord } from './collections.ts'

/** An extractor as clients read it (reference, api-platform §7). */
export const ShownExtractor = s.Intersect([
  s.Object({ id: s.String(), updated: s.String(), permissions: s.Array(s.Unknown()) }),
  ExtractorInfo,
])

export const showExtractor = ({ id, info, updated }: ExtractorRecord & Stored): s.Static<typeof ShownExtractor> => ({
  id,
  ...info,
  updated,
  permissions: [],
})

const required = ['name', 'version', 'description', 'author'] as const

const strings = (value: unknown): string[] => (Array.isArray(value) && value.every(item => typeof item === 'string') ? value : [])

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value)

const repositories = (value: unknown): { repType: string; repUrl: string }[] => {
  const all = Array.isArray(value) ? value : [value]
  return all.filter(isObject).map(({ repType, repUrl }) => ({ repType: String(repType ?? ''), repUrl: String(repUrl ?? '') }))
}

/**
 * Reads an `extractor_info.json`. What v1 requires must be there; the rest takes its default when it is absent or of another type,
 * as v1 does, so that old documents still register.
 */
export const readExtractorInfo = (raw: unknown): ExtractorInfo => {
  if (!isObject(raw)) throw new Invalid('An extractor registers with a JSON object, its extractor_info.json')
  for (const member of required) {
    if (typeof raw[member] !== 'string' || raw[member] === '') throw new Invalid(`${member} is missing: it must be text`)
  }
  if (!('contexts' in raw)) throw new Invalid('contexts is missing: an array of term maps or URLs, [] for none')
  if (!('repository' in raw)) throw new Invalid('repository is missing: [{"repType": "git", "repUrl": "…"}], [] for none')
  const name = String(raw.name)
  if (name.length > 200 || !/^[\w.:@ -]+$/.test(name))
    throw new Invalid('name must have 1 to 200 letters, digits or any of _ . : @ - and blank')
  const process = isObject(raw.process) ? raw.process : {}
  return {
    name,
    version: String(raw.version),
    description: String(raw.description),
    author: String(raw.author),
    contributors: strings(raw.contributors),
    contexts: raw.contexts,
    repository: repositories(raw.repository),
    external_services: strings(raw.external_services),
    libraries: strings(raw.libraries),
    bibtex: strings(raw.bibtex),
    maturity: typeof raw.maturity === 'string' ? raw.maturity : 'Development',
    defaultLabels: strings(raw.labels ?? raw.defaultLabels),
    process: { dataset: strings(process.dataset), file: strings(process.file), metadata: strings(process.metadata) },
    categories: Array.isArray(raw.categories) ? strings(raw.categories) : ['EXTRACT'],
    parameters: isObject(raw.parameters) ? raw.parameters : {},
  }
}
