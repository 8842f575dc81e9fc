import { useCallback, useEffect, useState } from 'react'
import { noRows, type Selection } from '../../components/selection.ts'
import { type LiveEvent, onLiveEvents } from '../../lib/live.ts'
import { onSessionChange } from '../../lib/session.ts'
import type { Entry, EntryQuery } from './entries.ts'

interface Kept {
  /** The list that the selection belongs to. */
  readonly list: string
  readonly selection: Selection<Entry>
}

const kept = new Map<string, Kept>()
onSessionChange(() => kept.clear())

/** Without the rows that were deleted, or the same selection. */
const withoutDeleted = (selection: Selection<Entry>, events: readonly LiveEvent[]): Selection<Entry> => {
  const deleted = new Set(events.flatMap(({ type, subject }) => (/^(?:file|folder)\.deleted$/.test(type) ? subject.split('/')[1] : [])))
  const rows = [...selection.rows].filter(([id]) => !deleted.has(id))
  return rows.length === selection.rows.size ? selection : { ...selection, rows: new Map(rows) }
}
onLiveEvents(events => {
  for (const [place, { list, selection }] of kept) kept.set(place, { list, selection: withoutDeleted(selection, events) })
})

/** The selection of a list. Going back in the history restores the selection of that entry. */
export const useKeptSelection = (
  place: string,
  { folder, filter, isRecursive }: EntryQuery,
): readonly [Selection<Entry>, (selection: Selection<Entry>) => void] => {
  const list = JSON.stringify([folder, filter, isRecursive])
  const chosenAt = (): Kept => {
    const before = kept.get(place)
    return before?.list === list ? before : { list, selection: noRows }
  }
  const [chosen, setChosen] = useState(chosenAt)
  if (chosen.list !== list) setChosen(chosenAt())
  useEffect(() => {
    const { isAllBut, rows } = chosen.selection
    if (isAllBut || rows.size > 0) kept.set(place, chosen)
    else kept.delete(place)
  }, [place, chosen])
  useEffect(
    () =>
      onLiveEvents(events =>
        setChosen(now => {
          const selection = withoutDeleted(now.selection, events)
          return selection === now.selection ? now : { ...now, selection }
        }),
      ),
    [],
  )
  const choose = useCallback((selection: Selection<Entry>) => setChosen({ list, selection }), [list])
  return [chosen.selection, choose]
}
