import { contributions } from '../port.ts'

/** Optional lists of names to choose from in profiles; at most one contribution. */
export interface PickLists {
  /** The given names that are in a list, ignoring case, mapped to the list's spelling. Unknown ones are omitted. At most 200. */
  known(list: 'institutions' | 'projects', names: readonly string[]): Promise<ReadonlyMap<string, string>>
}
export const PickLists = contributions<PickLists>('pickLists')
