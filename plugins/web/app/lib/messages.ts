import i18next from 'i18next'
import { ApiError } from './api.ts'
import { t } from './i18n.ts'
import { TextConflict } from './save-text.ts'

/** What to tell a person about a failure: our words for codes that we know, else the server's. */
export const messageOf = (error: unknown): string => {
  if (error instanceof TextConflict) return t('conflict.title')
  if (!(error instanceof ApiError)) return t('problems.unexpected')
  const key = `problems.${error.code}`
  return i18next.exists(key) ? String(i18next.t(key as never, error.details as never)) : error.message
}

/** True of the answer for what does not exist, or may not be seen. */
/** The request needs an account. */
export const isSignInRequired = (error: unknown): boolean => error instanceof ApiError && error.status === 401

export const isNotFound = (error: unknown): boolean => error instanceof ApiError && (error.status === 404 || error.status === 403)
