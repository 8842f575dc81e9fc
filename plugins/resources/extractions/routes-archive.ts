import { Conflict, Files, NotFound, one, routesFor, s } from 'pounce/sdk'
import { Archive, type Operation } from './archival.ts'

const route = routesFor('files', { archive: Archive, files: Files })
const params = s.Object({ id: s.id() })
const ok = { status: 200, body: { status: 'success' } } as const
const wish = s.Object({ parameters: s.Optional(s.Record(s.String(), s.Unknown())) })

const movedRoute = (operation: Operation) =>
  route({
    method: 'POST',
    path: `/api/files/:id/${operation}`,
    summary: operation === 'archive' ? 'Say that a file is in the archive' : 'Say that a file is back from the archive',
    description:
      'What the archive extractor calls when it has moved the bytes; this moves none. The status becomes ARCHIVED, or PROCESSED again.',
    permission: 'ArchiveFile',
    of: one('file'),
    params,
    responses: { 200: s.success() },
    throws: [NotFound],
    async handle({ params, caller }, { archive, files }) {
      const file = await files.get(params.id)
      if (!file) throw new NotFound('file')
      await archive.moved(file, operation, caller.user?.id)
      return ok
    },
  })

export const archiveFile = movedRoute('archive')
export const unarchiveFile = movedRoute('unarchive')

const askRoute = (operation: Operation, verb: string) =>
  route({
    method: 'POST',
    path: `/api/files/:id/${verb}`,
    summary: operation === 'archive' ? 'Ask for a file to be archived' : 'Ask for a file to be brought back from the archive',
    description:
      'Runs the archive extractor with `operation` among its parameters, whatever the status of the file. 409 when that extractor has not registered.',
    permission: 'ArchiveFile',
    of: one('file'),
    params,
    body: wish,
    responses: { 200: s.success() },
    throws: [NotFound, Conflict],
    async handle({ params, body, caller }, { archive, files }) {
      const file = await files.get(params.id)
      if (!file) throw new NotFound('file')
      await archive.ask(file, operation, body.parameters ?? {}, caller.user?.id)
      return ok
    },
  })

export const sendArchiveRequest = askRoute('archive', 'sendArchiveRequest')
export const sendUnarchiveRequest = askRoute('unarchive', 'sendUnarchiveRequest')

const queueRoute = (operation: Operation, verb: string) =>
  route({
    method: 'POST',
    path: `/api/datasets/:id/${verb}`,
    summary:
      operation === 'archive' ? 'Ask for all files of a dataset to be archived' : 'Ask for all files of a dataset to be brought back',
    description: 'Those in folders too, in the background. 409 when the archive extractor has not registered.',
    permission: 'ArchiveDataset',
    of: one('dataset'),
    params,
    body: wish,
    responses: { 200: s.success() },
    throws: [NotFound, Conflict],
    async handle({ params, body, caller }, { archive }) {
      await archive.askAll(params.id, operation, body.parameters ?? {}, caller.user?.id)
      return ok
    },
  })

export const queueArchival = queueRoute('archive', 'queueArchival')
export const queueUnarchival = queueRoute('unarchive', 'queueUnarchival')
