import { makeKernel } from '../core/cli/kernel-session.ts'
import { readHits } from '../test/coverage/hits.ts'
import { type ApiDocument, faultsOf, judge } from '../test/coverage/judge.ts'
import { referenceRoutes } from '../test/coverage/reference-routes.ts'
import { resolved } from '../test/support/resolved-document.ts'

/** The API of the default plugins, independent of the environment and of configuration files. */
export const wholeDocument = async (): Promise<object> => (await makeKernel({ sources: { environment: {} } })).openapi()

/** The same with all references resolved. */
export const apiDocument = async (): Promise<ApiDocument> => resolved(await wholeDocument()) as ApiDocument

/** The gaps in a test run's coverage of the reference's routes, one line each. `folder` holds the records of the run. */
export const coverageFaults = async (folder: string): Promise<readonly string[]> =>
  faultsOf(judge(referenceRoutes(), await apiDocument(), await readHits(folder)))
