import i18next from 'i18next'
import { ApiError } from './api.ts'
import { t } from './i18n.ts'
import { TextConflict } from './save-text.ts'

/** The message for the user about a failure: our text for known codes, otherwise the server's. */
export const messageOf = (error: unknown): string => {
  if (error instanceof TextConflict) return t('conflict.title')
  if (!(error instanceof ApiError)) return t('problems.unexpected')
  const key = `problems.${error.code}`
  return i18next.exists(key) ? String(i18next.t(key as never, error.details as never)) : error.message
}

/** The request needs an account. */
export const isSignInRequired = (error: unknown): boolean => error instanceof ApiError && error.status === 401

/** True for a response about something that does not exist or is not accessible; not for one about a route that the server does not have. */
export const isNotFound = (error: unknown): boolean =>
  error instanceof ApiError && (error.status === 404 || error.status === 403) && error.code !== 'no-such-address'
