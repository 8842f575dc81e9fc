import { collection } from 'pounce/sdk'

/** What a person has selected; the record's id is the person's. The oldest first. */
export interface Selection {
  readonly datasets: readonly string[]
}
export const selections = collection<Selection>('selected')

/** What one person can select at most: as many as one question to the policy takes. */
export const mostSelected = 1000
