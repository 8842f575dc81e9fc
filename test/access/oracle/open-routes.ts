import type { Outcast } from '../callers.ts'
import type { Letter } from './letters.ts'

/** Callers who are refused everywhere. */
export const standing: Readonly<Record<Outcast, Letter>> = { inactive: 'a', termsPending: 't' }

/** Routes that ignore credentials, including invalid ones. */
const blindToCallers: ReadonlySet<string> = new Set([
  ...['login', 'logout', 'getSetUp', 'checkSetUp', 'setUpFirstAdmin', 'getFileByLink', 'getBaseContext'],
  ...[
    'askForReset',
    'finishReset',
    'finishSignUp',
    'getIdentityLink',
    'confirmIdentityLink',
    'getReset',
    'getSignUp',
    'signUp',
    'startSignIn',
    'finishSignIn',
    'listSignInProviders',
    'getAvatar',
    'finishLogin',
    'beginPasskeyLogin',
    'loginWithPasskey',
  ],
])

export const isBlindToCallers = (route: string): boolean => blindToCallers.has(route)

/** Routes that are available before the terms of service are accepted: to read and accept them, and to get the current user. */
const beforeTerms: ReadonlySet<string> = new Set(['getMe', 'getSession', 'acceptTerms', 'getConfiguration'])

/** The perm code `any` of the reference admits inactive accounts; a server may also refuse them. */
const openToInactive: ReadonlySet<string> = new Set(['listSpaces', 'getStatus', 'getVersion'])

/** True for routes that are open to callers who are refused everywhere else. */
export const isOpenTo = (caller: Outcast, route: string): boolean =>
  blindToCallers.has(route) || (caller === 'termsPending' ? beforeTerms : openToInactive).has(route)
