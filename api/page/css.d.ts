/** The builder puts every style sheet that is imported into page.css. */
declare module '*.css'
