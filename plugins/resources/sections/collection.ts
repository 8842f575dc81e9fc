import { collection, type SectionRecord, type Stored } from 'pounce/sdk'

export type Section = SectionRecord & Stored

/** Sections; those of one file in the order of their start times. */
export const sections = collection<SectionRecord>('sections', {
  byFile: { on: ['file', 'startTime'] },
})
