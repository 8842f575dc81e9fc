export type Theme = 'light' | 'dark' | 'system'

/** The selected theme. */
export const currentTheme = (): Theme => {
  const { theme } = document.documentElement.dataset
  return theme === 'light' || theme === 'dark' ? theme : 'system'
}

/** Selects light, dark or the system's theme, and stores it in a cookie so that the server sends the next page in it. */
export const chooseTheme = (theme: Theme): void => {
  if (theme === 'system') delete document.documentElement.dataset['theme']
  else document.documentElement.dataset['theme'] = theme
  // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API is not in all browsers that we support
  document.cookie = `pounce_theme=${theme}; path=/; max-age=${theme === 'system' ? 0 : 31_536_000}; samesite=lax`
}
