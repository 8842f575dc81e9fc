import { event, personalRecords, type Tag, transferred } from 'pounce/sdk'
import { files } from './collection.ts'
import { fileLinks } from './file-links.ts'

const tagsOf = (tags: readonly Tag[], user: string): readonly object[] =>
  tags.filter(tag => tag.user === user).map(({ id, name, created }) => ({ id, name, created }))

/** What somebody made, and tags that they wrote. */
export const PersonalFiles = personalRecords({
  name: 'files',
  summary: 'Files that you uploaded, with their places, sizes and checksums, and tags that you added to others.',
  in: files,
  isOf: ({ author, tags }, person) => author === person.id || tags.some(({ user }) => user === person.id),
  show: (
    { id, author, tags, name, originalName, description, created, contentType, sizeBytes, sha256, places, license, status },
    person,
  ) => ({
    id,
    ...(author === person.id ? { name, originalName, description, created, contentType, sizeBytes, sha256, places, license, status } : {}),
    tags: tagsOf(tags, person.id),
  }),
  erase: transferred(id => [event('file.updated', { kind: 'file', id }, { fields: ['author'] })]),
})

/** Links by which anybody can download a file for a while. They end with the account. */
export const PersonalLinks = personalRecords({
  name: 'download-links',
  summary: 'Download links that you created and that are still valid, without their secrets.',
  in: fileLinks,
  isOf: ({ maker }, { id }) => maker === id,
  show: ({ file, created, expires }) => ({ file, created, expires }),
  erase: () => 'remove',
})
