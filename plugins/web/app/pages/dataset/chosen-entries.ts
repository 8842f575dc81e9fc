import { chosenCount, chosenSum, isChosen, type Selection } from '../../components/selection.ts'
import { type Entry, type EntryList, loadedEntries } from './entries.ts'
import type { Target } from './entry-acts.ts'

export const isFile = ({ kind }: Entry): boolean => kind === 'file'

const step = 200

/** The folders of a list. They come before the files. */
const foldersIn = async (list: EntryList): Promise<readonly Entry[]> => {
  const found: Entry[] = []
  for (let start = 0; start < list.count; start += step) {
    const some = await list.loadRows(start, Math.min(list.count, start + step))
    found.push(...some.filter(entry => !isFile(entry)))
    if (some.length === 0 || some.some(isFile)) break
  }
  return found
}

/** The rows of a selection as they are now: they may have been renamed or moved since they were selected. */
export const chosenRows = ({ rows }: Selection<Entry>, dataset: string): readonly Entry[] => {
  const loaded = loadedEntries(dataset)
  return [...rows.values()].map(row => {
    const { name, folder } = loaded.get(row.id) ?? row
    return { ...row, name, folder }
  })
}

/** The targets of an action on selected rows: "all except" stays a condition, so that it costs the same for a hundred thousand files. */
export const chosenTarget = async (selection: Selection<Entry>, list: EntryList): Promise<Target> => {
  if (!selection.isAllBut) return { entries: chosenRows(selection, list.query.dataset) }
  const folders = (await foldersIn(list)).filter(({ id }) => isChosen(selection, id))
  const count = chosenCount(selection, list.count) - folders.length
  const except = [...selection.rows.values()].filter(isFile).map(({ id }) => id)
  return { entries: folders, ...(count > 0 ? { rest: { query: list.query, except, count } } : {}) }
}

/** The selected rows themselves, all loaded. */
export const chosenEntries = async (selection: Selection<Entry>, list: EntryList): Promise<readonly Entry[]> =>
  selection.isAllBut
    ? (await list.loadRows(0, list.count)).filter(({ id }) => isChosen(selection, id))
    : chosenRows(selection, list.query.dataset)

/** Bytes of the selected files; undefined where folders are selected, whose size the list does not contain. */
export const sizeOf = (selection: Selection<Entry>, list: EntryList): number | undefined => {
  const first = list.row(0)
  if (selection.isAllBut ? first === undefined || !isFile(first) : [...selection.rows.values()].some(entry => !isFile(entry)))
    return undefined
  return chosenSum(selection, ({ size }) => size ?? 0, list.totalBytes)
}
