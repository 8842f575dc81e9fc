import i18next from 'i18next'
import en from '../locales/en.json'
import type viewers from '../locales/viewers/en.json'

/** Languages of the interface. */
export const languages = { en: 'English', de: 'Deutsch' } as const
export type Language = keyof typeof languages

declare module 'i18next' {
  interface CustomTypeOptions {
    resources: { translation: typeof en & typeof viewers }
  }
}

const isLanguage = (text: string): text is Language => text in languages

/** The language of the page: as sent by the server, or as selected since. */
export const currentLanguage = (): Language => {
  const { lang } = document.documentElement
  return isLanguage(lang) ? lang : 'en'
}

const load = async (language: Language): Promise<void> => {
  if (language === 'en' || i18next.hasResourceBundle(language, 'translation')) return
  const { default: texts } = await import('../locales/de.json')
  i18next.addResourceBundle(language, 'translation', texts)
}

const viewerTexts = {
  en: () => import('../locales/viewers/en.json'),
  de: () => import('../locales/viewers/de.json'),
}
let hasViewers = false

/** Called before a built-in viewer is mounted: pages do not load the texts of viewers. */
export const loadViewerTexts = async (language: Language = currentLanguage()): Promise<void> => {
  hasViewers = true
  if (i18next.exists('viewer', { lng: language, fallbackLng: [], returnObjects: true })) return
  const { default: texts } = await viewerTexts[language]()
  i18next.addResourceBundle(language, 'translation', texts, true)
}

/** A value in a text: what is written from right to left must not reorder the words around it. */
const isolated = (value: string): string => (/[\p{Bidi_C}\u0590-\u08ff\ufb1d-\ufefc]/u.test(value) ? `\u2068${value}\u2069` : value)

/** Called before the first page is rendered. */
export const startLanguage = async (): Promise<void> => {
  const language = currentLanguage()
  await i18next.init({
    lng: language,
    fallbackLng: 'en',
    // The texts of viewers are added when the first of them is loaded.
    resources: { en: { translation: en as typeof en & typeof viewers } },
    interpolation: { escape: isolated },
  })
  await load(language)
  await i18next.changeLanguage(language)
}

/** Changes the language of the page, and stores it in a cookie so that the server sends the next page in it. */
export const chooseLanguage = async (language: Language): Promise<void> => {
  await load(language)
  if (hasViewers) await loadViewerTexts(language)
  document.documentElement.lang = language
  // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API is not in all browsers that we support
  document.cookie = `pounce_language=${language}; path=/; max-age=31536000; samesite=lax`
  await i18next.changeLanguage(language)
}

/** The translation of a key. */
export const t = i18next.t.bind(i18next)
