declare module 'virtual:icons' {
  const bodies: Readonly<Record<import('./components/icon-names.ts').IconName, string>>
  export default bodies
}
