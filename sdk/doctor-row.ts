import { setTimeout as pause } from 'node:timers/promises'
import { inBatches } from './batches.ts'
import type { Collection, DocumentStore, Stored } from './ports/document-store.ts'

/** One result of `pounce doctor`. */
export interface DoctorRow extends Readonly<Record<string, unknown>> {
  /** What was checked, such as `references`. */
  readonly check: string
  readonly ok: boolean
  /** The problems, or a note. */
  readonly detail?: string
}

const settleMs = 10_000
const lookMs = 100
const maxTries = 3
const maxNamed = 20
/** Maximum number of findings of a check of all records that are kept. */
const maxFound = 1000

const pendingEvents = async ({ outbox }: DocumentStore): Promise<number> =>
  Object.values(await outbox.waiting()).reduce((sum, count) => sum + count, 0)

/** Waits until all events have been processed, for a limited time. Returns the number of pending events. */
const settle = async (documents: DocumentStore): Promise<number> => {
  const end = performance.now() + settleMs
  for (;;) {
    const pending = await pendingEvents(documents)
    if (pending === 0 || performance.now() > end) return pending
    await pause(lookMs)
  }
}

/**
 * The row for findings that may be caused by events that are still being processed, such as references to a resource that was just deleted. They are
 * checked again while the outbox is empty; if it never is, they are listed but not reported as problems.
 */
export async function doctorRow<T>(
  documents: DocumentStore,
  check: string,
  found: readonly T[],
  { remains, text, remedy }: { remains(one: T): Promise<boolean>; text(one: T): string; readonly remedy?: string },
): Promise<DoctorRow> {
  let remaining = found
  let pending = 0
  for (let tries = 0; tries < maxTries && remaining.length > 0; tries += 1) {
    const before = await settle(documents)
    const again: T[] = []
    for (const one of remaining) if (await remains(one)) again.push(one)
    remaining = again
    pending = before + (await pendingEvents(documents))
    if (pending === 0) break
  }
  if (remaining.length === 0) return { check, ok: true }
  const named = remaining.slice(0, maxNamed).map(text).join(', ')
  const all = remaining.length > maxNamed ? `${named} and ${remaining.length - maxNamed} or more others` : named
  if (pending > 0) return { check, ok: true, detail: `undecided while ${pending} events are waiting: ${all}` }
  return { check, ok: false, detail: remedy === undefined ? all : `${all}: ${remedy}` }
}

/** How all records of a collection are checked. The `id` of a finding is that of its record. */
export interface RecordsCheck<T extends object, F extends { readonly id: string }> {
  readonly in: Collection<T>
  findingsIn(records: readonly (T & Stored)[]): Promise<readonly F[]>
  text(finding: F): string
  readonly remedy?: string
}

/** The row of a check of all records of a collection. */
export async function recordsRow<T extends object, F extends { readonly id: string }>(
  documents: DocumentStore,
  check: string,
  { in: records, findingsIn, text, remedy }: RecordsCheck<T, F>,
): Promise<DoctorRow> {
  const found: F[] = []
  for await (const batch of inBatches(documents.walk(records))) {
    found.push(...(await findingsIn(batch)))
    if (found.length >= maxFound) break
  }
  const remains = async (finding: F): Promise<boolean> => {
    const now = await documents.get(records, finding.id)
    return now !== undefined && (await findingsIn([now])).some(again => text(again) === text(finding))
  }
  return doctorRow(documents, check, found, { remains, text, ...(remedy === undefined ? {} : { remedy }) })
}
