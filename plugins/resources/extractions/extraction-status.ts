import { type Stored, s } from 'pounce/sdk'
import type { ExtractionRecord, ExtractorRecord } from './collections.ts'
import { takes } from './matching.ts'

type Run = ExtractionRecord & Stored

/** The newest run of each extractor on a thing. */
export const newestByExtractor = (newestFirst: readonly Run[]): ReadonlyMap<string, Run> => {
  const newest = new Map<string, Run>()
  for (const run of newestFirst) if (!newest.has(run.extractor)) newest.set(run.extractor, run)
  return newest
}

/** True while the newest run of any extractor goes on; a failed one counts as ended (reference, extraction §3.3). */
export const isBeingProcessed = (newestFirst: readonly Run[]): boolean =>
  [...newestByExtractor(newestFirst).values()].some(
    run => run.status !== 'DONE' && !run.status.includes('StatusMessage.error') && !run.isFinished,
  )

/** The word that stands for all runs of a file, as v1 puts it. */
export const statusWord = (newestFirst: readonly Run[], contentType: string, known: readonly ExtractorRecord[]): string => {
  if (isBeingProcessed(newestFirst)) return 'Processing'
  if (newestFirst.length > 0) return 'Done'
  const isTaken = known.some(({ info }) => info.process.file?.some(pattern => takes(pattern, contentType)))
  return isTaken
    ? 'Required Extractor is either busy or is not currently running. Try after some time.'
    : 'No Extractor Available. Request is not queued.'
}

/** A run with its news. */
export const ShownRun = s.Object({
  id: s.String(),
  job_id: s.String(),
  extractor_id: s.String(),
  status: s.String(),
  start: s.v1Date(),
  end: s.Union([s.v1Date(), s.Null()]),
  user_id: s.Union([s.String(), s.Null()]),
  messages: s.Array(s.Object({ status: s.String(), at: s.v1Date() })),
})

export const showRun = ({ id, extractor, status, start, end, user, lines }: Run): s.Static<typeof ShownRun> => ({
  id,
  job_id: id,
  extractor_id: extractor,
  status,
  start: s.toV1Date(start),
  end: end === null ? null : s.toV1Date(end),
  user_id: user,
  messages: lines.map(line => ({ status: line.status, at: s.toV1Date(line.at) })),
})
