/** The builder bundles all imported style sheets. The result is page.css. */
declare module '*.css'
