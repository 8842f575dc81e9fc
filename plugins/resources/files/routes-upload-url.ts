import { Forbidden, Invalid, NotFound, one, routesFor, s, Unreachable } from 'pounce/sdk'
import { FileItem, toFileItem } from './file-json.ts'
import { type Outcome, UrlUploads } from './upload-by-url.ts'

const needs = { urls: UrlUploads }
const onDataset = routesFor('datasets', needs)
const onExtraction = routesFor('extractions', needs)

const address = s.Optional(s.String({ maxLength: 4000 }))
const Source = s.Object({
  fileurl: s.Optional(s.String({ maxLength: 4000, description: 'http or https. `weburl` and `url` say the same, in this order' })),
  weburl: address,
  url: address,
  path: s.Optional(s.String({ maxLength: 4000, description: 'A file in a folder of the server, instead of an address' })),
  md: s.Optional(s.json()),
  metadata: s.Optional(s.json()),
})
const Sources = s.Union([Source, s.Array(Source, { maxItems: 1000 })])

const Failure = s.Object({ url: s.String(), code: s.String(), message: s.String() })
const result = s.Union([s.Object({ id: s.String() }), s.Object({ ids: s.Array(FileItem), failed: s.Optional(s.Array(Failure)) })], {
  description:
    'One address: the id of its file. Several: a description of each file, and in `failed` each address of which none was made, with the reason.',
})

const about =
  'Only public http and https addresses are fetched, unless the configuration lists others (`outbound.allow`), and each redirect is checked again. ' +
  'An address that is away, too slow or answers with anything but 200 is a 422 with the code `unreachable-source`: the request is right and so is ' +
  'this server, but what it names cannot be had. One that may not be asked is 403. Of several addresses those that can be had become files; ' +
  'the request fails, with the first reason, only when none can.'

const answer = (outcomes: readonly Outcome[]) => {
  const files = outcomes.flatMap(outcome => ('file' in outcome ? [outcome.file] : []))
  const failed = outcomes.flatMap(outcome => ('file' in outcome ? [] : [outcome]))
  const [first] = files
  if (!first && failed[0]) throw failed[0].problem
  if (first && outcomes.length === 1) return { status: 200 as const, body: { id: first.id } }
  const reasons = failed.map(({ url, problem: { code, message } }) => ({ url, code, message }))
  return { status: 200 as const, body: { ids: files.map(toFileItem), ...(reasons.length > 0 ? { failed: reasons } : {}) } }
}

export const uploadUrlsToDataset = onDataset({
  method: 'POST',
  path: '/api/datasets/:id/urls',
  summary: 'Have files fetched from addresses into a dataset',
  description: `Each file gets its address as metadata (\`source\`), besides what \`md\` or \`metadata\` holds. ${about}`,
  permission: 'AddResourceToDataset',
  of: one('dataset'),
  params: s.Object({ id: s.id() }),
  body: Sources,
  maxBodyBytes: 10 * 1024 * 1024,
  responses: { 200: result },
  throws: [Invalid, Forbidden, NotFound, Unreachable],
  async handle({ params, body, caller, signal }, { urls }) {
    const sources = Array.isArray(body) ? body : [body]
    return answer(await urls.take(sources, caller, { dataset: params.id, extract: true }, signal))
  },
})

export const uploadByUrl = onExtraction({
  method: 'POST',
  path: '/api/extractions/upload_url',
  summary: 'Have a file fetched from an address',
  description: `It lies in no dataset, and only you see it until it is attached to one. ${about}`,
  permission: 'AddFile',
  body: Sources,
  responses: { 200: result },
  throws: [Invalid, Forbidden, Unreachable],
  async handle({ body, caller, signal }, { urls }) {
    const sources = Array.isArray(body) ? body : [body]
    return answer(await urls.take(sources, caller, { extract: false }, signal))
  },
})
