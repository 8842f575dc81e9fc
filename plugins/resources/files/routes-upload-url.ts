import { Forbidden, Invalid, NotFound, ref, routesFor, s, Unreachable } from 'pounce/sdk'
import { FileItem, toFileItem } from './file-json.ts'
import { type UrlOutcome, UrlUpload } from './upload-by-url.ts'

const needs = { urls: UrlUpload }
const onDataset = routesFor('datasets', needs)
const onExtraction = routesFor('extractions', needs)

const address = s.Optional(s.String({ maxLength: 4000 }))
const UrlSource = s.model(
  'UploadSource',
  s.Object({
    fileurl: s.Optional(s.String({ maxLength: 4000, description: 'http or https URL. `weburl` and `url` are synonyms, in this order' })),
    weburl: address,
    url: address,
    path: s.Optional(s.String({ maxLength: 4000, description: 'Path of a file in a server folder, instead of a URL' })),
    md: s.Optional(s.json()),
    metadata: s.Optional(s.json()),
  }),
)
const Sources = s.Union([UrlSource, s.Array(UrlSource, { maxItems: 1000 })])

const Failure = s.model('UploadFailure', s.Object({ url: s.String(), code: s.String(), message: s.String() }))
const result = s.Union([s.Object({ id: s.String() }), s.Object({ ids: s.Array(FileItem), failed: s.Optional(s.Array(Failure)) })], {
  description:
    'One URL: the id of its file. Several: a description of each file, and in `failed` each URL without a file, with the reason.',
})

const about =
  'Only public http and https URLs are fetched, unless the configuration allows others (`outbound.allow`); redirects are checked too. ' +
  'A URL that is unreachable, times out or does not answer 200 gives 422 with the code `unreachable-source`. ' +
  'A URL that is not allowed gives 403. With several URLs, those that can be fetched become files; ' +
  'the request fails, with the first reason, only if none can.'

const answer = (outcomes: readonly UrlOutcome[]) => {
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
  summary: 'Add files to a dataset from URLs',
  description: `Each file gets its URL as metadata (\`source\`), in addition to \`md\` or \`metadata\`. ${about}`,
  permission: { right: 'AddResourceToDataset', on: ref('dataset', 'id') },
  cost: 'fetch',
  params: s.Object({ id: s.id() }),
  query: s.Object({ folder_id: s.Optional(s.id()) }),
  body: Sources,
  maxBodyBytes: 10 * 1024 * 1024,
  isLong: true,
  responses: { 200: result },
  throws: [Invalid, Forbidden, NotFound, Unreachable],
  async handle({ params, query, body, caller, signal }, { urls }) {
    const sources = Array.isArray(body) ? body : [body]
    const target = { dataset: params.id, folder: query.folder_id, extract: true }
    return answer(await urls.take(sources, caller, target, signal))
  },
})

export const uploadByUrl = onExtraction({
  method: 'POST',
  path: '/api/extractions/upload_url',
  summary: 'Upload a file from a URL',
  description: `The file is in no dataset, and only you can see it until it is attached to one. ${about}`,
  permission: { right: 'AddFile', unscoped: 'The file is new, in no dataset, and accessible to its uploader only.' },
  cost: 'fetch',
  body: Sources,
  isLong: true,
  responses: { 200: result },
  throws: [Invalid, Forbidden, Unreachable],
  async handle({ body, caller, signal }, { urls }) {
    const sources = Array.isArray(body) ? body : [body]
    return answer(await urls.take(sources, caller, { extract: false }, signal))
  },
})
