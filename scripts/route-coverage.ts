import { makeKernel } from '../core/cli/kernel-session.ts'
import { readHits } from '../test/coverage/hits.ts'
import { type ApiDocument, faultsOf, judge } from '../test/coverage/judge.ts'
import { referenceRoutes } from '../test/coverage/reference-routes.ts'
import { resolved } from '../test/support/resolved-document.ts'

/** The API of the default plugins. Nothing of this machine comes into it: no environment, no file. */
export const wholeDocument = async (): Promise<object> => (await makeKernel({ sources: { environment: {} } })).openapi()

/** The same with everything shared in its place. */
export const apiDocument = async (): Promise<ApiDocument> => resolved(await wholeDocument()) as ApiDocument

/** What a run of the tests has not shown of the routes of the reference, a line each. `folder` holds what it recorded. */
export const coverageFaults = async (folder: string): Promise<readonly string[]> =>
  faultsOf(judge(referenceRoutes(), await apiDocument(), await readHits(folder)))
