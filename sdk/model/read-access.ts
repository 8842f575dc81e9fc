import * as s from '../schema.ts'

/**
 * What decides whether the server is public or private: the configuration; an admin; `pending` while no one has chosen since the installation was new, so
 * that it is private; `default`, public, for an installation that was set up without the question.
 */
export const ReadAccessOrigin = s.Union([s.Literal('configuration'), s.Literal('admin'), s.Literal('pending'), s.Literal('default')], {
  description:
    'What decides: `configuration` (`access.private`), `admin`, `pending` (a new server, private until an admin chooses) or `default` (public)',
})
export type ReadAccessOrigin = s.Static<typeof ReadAccessOrigin>
