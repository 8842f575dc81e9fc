import { Conflict, Files, Forbidden, NotFound, ref, routesFor, s } from 'pounce/sdk'
import { optionalOrNull } from 'pounce/sdk/kit'
import { Archival, type Operation } from './archival.ts'

const route = routesFor('files', { archive: Archival, files: Files })
const params = s.Object({ id: s.id() })
const ok = { status: 200, body: { status: 'success' } } as const
const archivalBody = s.Object({ parameters: optionalOrNull(s.Record(s.String(), s.Unknown())) })

const moveRoute = (operation: Operation) =>
  route({
    method: 'POST',
    path: `/api/files/:id/${operation}`,
    summary: operation === 'archive' ? 'Mark a file as archived' : 'Mark a file as unarchived',
    description:
      'Called by the archive extractor after it has moved the bytes; this route moves none. The status becomes ARCHIVED, or PROCESSED again.',
    permission: { right: 'ArchiveFile', on: ref('file', 'id') },
    jobKeys: 'allowed',
    params,
    responses: { 200: s.success() },
    throws: [Forbidden, NotFound],
    async handle({ params, caller }, { archive, files }) {
      if (caller.limits?.job) await archive.requireArchiving(caller.limits.job.id)
      const file = await files.get(params.id)
      if (!file) throw new NotFound('file')
      await archive.recordMove(file, operation, caller.user?.id)
      return ok
    },
  })

export const archiveFile = moveRoute('archive')
export const unarchiveFile = moveRoute('unarchive')

const requestRoute = (operation: Operation, verb: string) =>
  route({
    method: 'POST',
    path: `/api/files/:id/${verb}`,
    summary: operation === 'archive' ? 'Request archival of a file' : 'Request unarchival of a file',
    description:
      'Runs the archive extractor with `operation` among its parameters, regardless of the status of the file. 409 if that extractor is not registered.',
    permission: { right: 'ArchiveFile', on: ref('file', 'id') },
    params,
    body: archivalBody,
    responses: { 200: s.success() },
    throws: [NotFound, Conflict],
    async handle({ params, body, caller }, { archive, files }) {
      const file = await files.get(params.id)
      if (!file) throw new NotFound('file')
      await archive.submitFile(file, operation, body.parameters ?? {}, caller.user?.id)
      return ok
    },
  })

export const sendArchiveRequest = requestRoute('archive', 'sendArchiveRequest')
export const sendUnarchiveRequest = requestRoute('unarchive', 'sendUnarchiveRequest')

const queueRoute = (operation: Operation, verb: string) =>
  route({
    method: 'POST',
    path: `/api/datasets/:id/${verb}`,
    summary: operation === 'archive' ? 'Request archival of all files of a dataset' : 'Request unarchival of all files of a dataset',
    description:
      'Includes files in folders, and skips files for which the caller lacks ArchiveFile. Runs in the background. 409 if the archive extractor is not registered.',
    permission: { right: 'ArchiveDataset', on: ref('dataset', 'id') },
    params,
    body: archivalBody,
    responses: { 200: s.success() },
    throws: [NotFound, Conflict],
    async handle({ params, body, caller }, { archive }) {
      await archive.requestDataset(params.id, operation, body.parameters ?? {}, caller)
      return ok
    },
  })

export const queueArchival = queueRoute('archive', 'queueArchival')
export const queueUnarchival = queueRoute('unarchive', 'queueUnarchival')
