import { collection, personalRecords } from 'pounce/sdk'

/** What a person has selected; the record's id is the person's. The oldest first. */
export interface Selection {
  readonly datasets: readonly string[]
}
export const selections = collection<Selection>('selected')

/** What one person can select at most: as many as one question to the policy takes. */
export const mostSelected = 1000

export const PersonalSelection = personalRecords({
  name: 'selection',
  summary: 'Datasets that you have selected.',
  in: selections,
  isOf: (selection, { id }) => selection.id === id,
  show: ({ datasets }) => ({ datasets }),
  erase: () => 'remove',
})
