import '../viewers.css'
import type { ReactNode } from 'react'
import { I18nProvider } from 'react-aria-components/I18nProvider'
import { createRoot } from 'react-dom/client'

/** Renders a React viewer, and returns a function that removes it. */
export const drawn = (element: HTMLElement, language: string, content: ReactNode): (() => void) => {
  const root = createRoot(element)
  root.render(<I18nProvider locale={language}>{content}</I18nProvider>)
  return () => root.unmount()
}
