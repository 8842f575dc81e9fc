import { useNavigate, useSearch } from '@tanstack/react-router'
import { type MouseEvent, useCallback, useMemo } from 'react'
import { urlOf } from '../../lib/api.ts'
import type { EntryQuery, EntrySort } from './entries.ts'

const sorts: readonly string[] = ['name', 'size', 'type', 'created'] satisfies readonly EntrySort[]

/** The list's state in the URL. */
export const useEntryQuery = (dataset: string): EntryQuery => {
  const { folder, sort = 'name', order, find = '', below } = useSearch({ strict: false }) as Readonly<Record<string, string | undefined>>
  return useMemo(
    () => ({
      dataset,
      folder: folder === '' ? undefined : folder,
      isRecursive: below === '1',
      sort: (sorts.includes(sort) ? sort : 'name') as EntrySort,
      order: order === 'descending' ? 'descending' : 'ascending',
      filter: find.slice(0, 200),
    }),
    [dataset, folder, sort, order, find, below],
  )
}

type Changes = Readonly<Partial<Record<'folder' | 'sort' | 'order' | 'find' | 'below', string | undefined>>>

/** Changes the list's state in the URL. */
export const useChangeAddress = (): ((changes: Changes, replace?: boolean) => void) => {
  const navigate = useNavigate()
  return useCallback(
    (changes, replace = false) =>
      void navigate({
        to: '.',
        search: (last: Record<string, string>) =>
          Object.fromEntries(Object.entries({ ...last, ...changes }).filter(([, value]) => value !== undefined)),
        replace,
        resetScroll: false,
      } as never),
    [navigate],
  )
}

/** What the page of a file needs to know about the list it was opened from. */
export const listAddress = ({ dataset, folder, sort, order, filter, isRecursive }: EntryQuery): Record<string, string> => ({
  dataset,
  ...(folder === undefined ? {} : { folder }),
  ...(sort === 'name' ? {} : { sort }),
  ...(order === 'ascending' ? {} : { order }),
  ...(filter === '' ? {} : { find: filter }),
  ...(isRecursive ? { below: '1' } : {}),
})

/** A plain click opens within the page; with Ctrl, Shift or the middle button the browser acts as usual. */
export const onPlainClick = (act: () => void) => (event: MouseEvent) => {
  if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return
  event.preventDefault()
  act()
}

/** The URL of a folder, or of the root. */
export const folderUrl = (dataset: string, folder: string | undefined): string => urlOf(`/datasets/${dataset}`, { folder })
