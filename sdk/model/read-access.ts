import * as s from '../schema.ts'

/**
 * What determines whether the server is public or private: `configuration`; `admin`; `pending`, private, for a new installation until an admin chooses;
 * `default`, public, for an installation that was set up before the choice existed.
 */
export const ReadAccessOrigin = s.Union([s.Literal('configuration'), s.Literal('admin'), s.Literal('pending'), s.Literal('default')], {
  description:
    'What decides: `configuration` (`access.private`), `admin`, `pending` (a new server, private until an admin chooses) or `default` (public)',
})
export type ReadAccessOrigin = s.Static<typeof ReadAccessOrigin>
