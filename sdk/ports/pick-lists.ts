import { contributions } from '../port.ts'

/** Names that people pick for their profiles; none or one of these. */
export interface PickLists {
  /** What is in a list of the names requested, whatever their case, in the spelling of the list. Unknown ones are absent. At most 200. */
  known(list: 'institutions' | 'projects', names: readonly string[]): Promise<ReadonlyMap<string, string>>
}
export const PickLists = contributions<PickLists>('pickLists')
