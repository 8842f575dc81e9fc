import i18next from 'i18next'
import { useSyncExternalStore } from 'react'

const subscribe = (listener: () => void): (() => void) => {
  i18next.on('languageChanged', listener)
  return () => i18next.off('languageChanged', listener)
}

/** The language of the page. When it changes, the component is rendered again and keeps its state, as do those in it that are not memoized. */
export const useLanguage = (): string => useSyncExternalStore(subscribe, () => i18next.language)
