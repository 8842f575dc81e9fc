import { toastFailure } from '../components/toasts.tsx'
import { api } from './api.ts'
import { currentSession } from './session.ts'

/** Maximum number of selected resources in one ZIP. */
export const maxInArchive = 10_000

/**
 * Lets the browser download an address. If the session has ended, the user signs in first: the browser would save the refusal of the server as a file,
 * unnoticed by the page.
 */
export const startDownload = (url: string): void => {
  const isSignedIn = Promise.resolve(currentSession()?.user && api('GET /api/me'))
  void isSignedIn.then(() => save(url), toastFailure)
}

const save = (url: string): void => {
  const link = document.createElement('a')
  link.href = url
  link.download = ''
  document.body.append(link)
  link.click()
  link.remove()
}
