import { Installation, Invalid, NotFound, ref, routesFor, s, Unavailable } from 'pounce/sdk'
import { afterParameter, linkToNext } from 'pounce/sdk/kit'
import { EntryListing } from './entry-listing.ts'
import { readCursor } from './entry-rows.ts'

const route = routesFor('datasets', { listing: EntryListing, installation: Installation })

const orNull = <T extends s.TSchema>(schema: T) => s.Union([schema, s.Null()])

const Entry = s.model(
  'Entry',
  s.Object({
    id: s.String(),
    kind: s.Union([s.Literal('folder'), s.Literal('file')]),
    name: s.String(),
    size: orNull(s.Integer({ description: 'In bytes; null for a folder, like the next ones' })),
    type: orNull(s.String({ description: 'Media type' })),
    status: orNull(s.String()),
    thumbnail: orNull(s.String()),
    created: s.String({ description: 'ISO 8601 with milliseconds' }),
    author: s.Object({ id: s.String(), fullName: s.String() }),
    folder: orNull(s.String({ description: 'Folder that directly contains it; null: the root of the dataset' })),
    entries: orNull(s.Integer({ description: 'Number of folders and files directly in a folder; null for a file' })),
    path: s.Optional(s.Array(s.String(), { description: 'With `recursive`: names of the folders between the listed one and the entry' })),
  }),
)

export const listEntries = route({
  method: 'GET',
  path: '/api/datasets/:id/entries',
  summary: 'List the folders and files of a dataset, page by page',
  description:
    'An addition to Clowder 1.x. Lists the root, or `folder`; with `recursive` also all subfolders. Folders come first; names are in natural order (`run 2` before `run 10`), case-insensitive. Datasets of more than 1,000 entries are indexed: their lists and totals may lag briefly, and a page with `filter` can have few or no entries and still a `Link` to the next, because each page reads a bounded number of names.',
  permission: { right: 'ViewDataset', on: ref('dataset', 'id') },
  params: s.Object({ id: s.id() }),
  query: s.Object({
    folder: s.Optional(s.id()),
    recursive: s.flag(false),
    sort: s.Union([s.Literal('name'), s.Literal('size'), s.Literal('created'), s.Literal('type')], {
      default: 'name',
      description: 'Folders, which have no size or type, are then sorted by name',
    }),
    order: s.Union([s.Literal('ascending'), s.Literal('descending')], { default: 'ascending' }),
    filter: s.Optional(s.String({ minLength: 1, maxLength: 200, description: 'Substring of the name, case-insensitive' })),
    limit: s.Integer({ default: 100, minimum: 1, maximum: 1000 }),
    skip: s.Integer({
      default: 0,
      minimum: 0,
      maximum: 100_000_000,
      description: 'Number of entries to skip. Not with `after`',
    }),
    after: afterParameter(4000),
  }),
  responses: {
    200: s.model(
      'EntryPage',
      s.Object({
        entries: s.Array(Entry),
        total: orNull(
          s.Integer({
            description:
              'Of the whole list. Null in datasets of more than 1,000 entries with `filter`, and with `recursive` below a folder that has more than 999 folders below it',
          }),
        ),
        totalBytes: orNull(s.Integer({ description: 'Of all files in the list; null where `total` is' })),
      }),
    ),
  },
  throws: [Invalid, NotFound, Unavailable],
  async handle({ params, query, url }, { listing, installation }) {
    const { folder, filter, after: text, ...rest } = query
    if (text !== undefined && rest.skip > 0) throw new Invalid('skip and after exclude each other')
    const after = text === undefined ? undefined : readCursor(text)
    const { next, ...body } = await listing.page({ dataset: params.id, folder, filter, after, ...rest })
    const onwards = new URL(url)
    onwards.searchParams.delete('skip')
    return { status: 200, body, ...linkToNext(installation.baseUrl, onwards, { next }, { dated: false }) }
  },
})
