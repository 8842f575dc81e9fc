import { type FileRecord, s } from 'pounce/sdk'
import type { ExtractionRun } from './stored-extractions.ts'

const lastReport = ({ lines, start }: ExtractionRun): string => {
  const last = lines.at(-1)
  return last?.heard ?? last?.at ?? start
}

/** The newest run of each extractor on a resource, or an earlier one that continues and reported later (reference, extraction §3.3). */
export const newestByExtractor = (newestFirst: readonly ExtractionRun[]): ReadonlyMap<string, ExtractionRun> => {
  const newest = new Map<string, ExtractionRun>()
  for (const run of newestFirst) {
    const known = newest.get(run.extractor)
    if (!known || (run.state === 'open' && lastReport(run) >= lastReport(known))) newest.set(run.extractor, run)
  }
  return newest
}

/**
 * True while the latest run of any extractor is open; a failed run counts as ended (reference, extraction §3.3), and a cancelled one does not hide the
 * runs before it.
 */
export const isBeingProcessed = (newestFirst: readonly ExtractionRun[]): boolean =>
  [...newestByExtractor(newestFirst.filter(run => run.state !== 'cancelled')).values()].some(run => run.state === 'open')

/** Like `isBeingProcessed`, but also true for a file whose upload is about to submit its jobs. */
export const isFileBusy = ({ status }: Pick<FileRecord, 'status'>, newestFirst: readonly ExtractionRun[]): boolean =>
  status === 'CREATED' || isBeingProcessed(newestFirst)

/** The overall status of a file in v1's wording. `inputTypes`: main media types with legacy bindings on a bus. */
export const overallStatus = (file: FileRecord, newestFirst: readonly ExtractionRun[], inputTypes: readonly string[]): string => {
  if (isFileBusy(file, newestFirst)) return 'Processing'
  if (newestFirst.length > 0) return 'Done'
  return inputTypes.includes(file.contentType.split('/')[0] ?? '')
    ? 'Required Extractor is either busy or is not currently running. Try after some time.'
    : 'No Extractor Available. Request is not queued.'
}

/** A run with its status messages. */
export const ShownRun = s.model(
  'Extraction',
  s.Object({
    id: s.String({ description: 'The `msgid` and `jobid` of its message, used for cancelling' }),
    job_id: s.String(),
    extractor_id: s.String(),
    status: s.String(),
    start: s.v1Date(),
    end: s.Union([s.v1Date(), s.Null()]),
    user_id: s.Union([s.String(), s.Null()]),
    messages: s.Array(s.Object({ status: s.String(), at: s.v1Date() })),
  }),
)

/** A run in a list for many resources: `file_id` is the dataset's id for a run on a dataset, as in v1. */
export const ListedRun = s.model('ListedExtraction', s.Intersect([s.Object({ file_id: s.String(), resource_type: s.String() }), ShownRun]))

export const showRun = ({ id, extractor, status, start, end, user, lines }: ExtractionRun): s.Static<typeof ShownRun> => ({
  id: id,
  job_id: id,
  extractor_id: extractor,
  status,
  start: s.toV1Date(start),
  end: end === null ? null : s.toV1Date(end),
  user_id: user,
  messages: lines.map(line => ({ status: line.status, at: s.toV1Date(line.at) })),
})

export const listRun = (run: ExtractionRun): s.Static<typeof ListedRun> => ({
  file_id: run.target.id,
  resource_type: run.target.kind,
  ...showRun(run),
})
