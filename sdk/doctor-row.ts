import { setTimeout as pause } from 'node:timers/promises'
import type { DocumentStore } from './ports/document-store.ts'

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
