import { defineResource, type SectionRecord } from 'pounce/sdk'
import { createdOrTaggedBy, transferred } from 'pounce/sdk/kit'
import { sections } from './stored-sections.ts'

export const sectionResource = defineResource<SectionRecord>({
  kind: 'section',
  collection: sections,
  view: 'ViewSection',
  // A section has the current rights of its file; its creator has none beyond these.
  rights: ({ file }) => ({ author: '', spaces: [], isPublic: false, state: 'live', parents: [{ kind: 'file', id: file }] }),
  personalData: {
    name: 'sections',
    summary: 'Sections of files that you created, and tags that you added to others.',
    ...createdOrTaggedBy<SectionRecord>('file', 'description', 'created', 'startTime', 'endTime', 'area'),
    erase: transferred(),
  },
})
