import { personalRecords, type Tag, transferred } from 'pounce/sdk'
import { sections } from './collection.ts'

const tagsOf = (tags: readonly Tag[], user: string): readonly object[] =>
  tags.filter(tag => tag.user === user).map(({ id, name, created }) => ({ id, name, created }))

/** What somebody made, and tags that they wrote. */
export const PersonalSections = personalRecords({
  name: 'sections',
  summary: 'Sections of files that you created, and tags that you added to others.',
  in: sections,
  isOf: ({ author, tags }, person) => author === person.id || tags.some(({ user }) => user === person.id),
  show: ({ id, author, tags, file, description, created, startTime, endTime, area }, person) => ({
    id,
    ...(author === person.id ? { file, description, created, startTime, endTime, area } : {}),
    tags: tagsOf(tags, person.id),
  }),
  erase: transferred(),
})
