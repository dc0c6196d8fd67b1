import type { Precision } from '../../../model/result.ts'

/** What a language says of ages beside the phrases that Intl knows. */
export interface Wording {
  /** Words for the one in `an hour ago`. */
  readonly ones?: readonly string[]
  /** The number is left out where it is one, as in `час назад`. */
  readonly bareOne?: true
  /** Words that make an age less exact than its number, and leave its unit as it is. */
  readonly about?: readonly string[]
  /** Further phrases; `#` stands for the number. */
  readonly also?: Partial<Record<Precision, readonly string[]>>
  /** Further phrases for one unit, without a number. */
  readonly one?: Partial<Record<Precision, readonly string[]>>
  readonly now?: readonly string[]
  /** Other ways to say a phrase; they stand in for the folded phrase, which has no space beside `#`. */
  readonly variants?: readonly (readonly [phrase: RegExp, other: string])[]
}

export const wordings: Readonly<Record<string, Wording>> = {
  af: { ones: ["'n", 'een'] },
  ar: { about: ['حوالي', 'نحو', 'تقريبا'], variants: [[/^قبل/, 'منذ']], now: ['للتو'] },
  be: {
    about: ['каля', 'прыкладна', 'прыблізна'],
    bareOne: true,
    ones: ['адну', 'адзін'],
    now: ['толькі што'],
  },
  bg: { about: ['около', 'приблизително'], bareOne: true, ones: ['един', 'една'], now: ['току-що'] },
  bn: {
    about: ['প্রায়', 'আনুমানিক'],
    variants: [
      [/পূর্বে$/, 'আগে'],
      [/আগে$/, 'পূর্বে'],
      // Both spellings of the hour are common.
      [/ঘণ্টা/, 'ঘন্টা'],
      [/ঘন্টা/, 'ঘণ্টা'],
    ],
    ones: ['এক', 'একটি'],
    now: ['এইমাত্র'],
  },
  ca: { about: ['aproximadament', 'uns', 'unes'], ones: ['un', 'una'], now: ['ara mateix'] },
  cs: {
    about: ['asi', 'přibližně', 'zhruba', 'cca'],
    bareOne: true,
    now: ['právě teď'],
    also: { hour: ['před # hod'] },
  },
  da: {
    about: ['omkring', 'cirka', 'ca', 'omtrent', 'ungefær'],
    ones: ['en', 'et'],
    variants: [[/^for#/, '#']],
    now: ['lige nu'],
  },
  de: {
    about: ['etwa', 'ca', 'circa', 'zirka', 'ungefähr', 'rund'],
    ones: ['einer', 'einem'],
    now: ['gerade eben', 'soeben'],
  },
  el: {
    about: ['περίπου'],
    ones: ['μία', 'ένα', 'έναν'],
    variants: [[/^πριν απο#/, 'πριν#']],
    also: { year: ['πριν από # χρόνια', 'πριν από # χρόνο'], day: ['πριν από # μέρες', 'πριν από # μέρα'] },
    now: ['μόλις τώρα'],
  },
  en: {
    about: ['about', 'around', 'approximately', 'approx', 'roughly'],
    ones: ['a', 'an', 'one'],
    also: {
      second: ['# secs ago', '# s ago'],
      minute: ['# mins ago', '# m ago'],
      hour: ['# hrs ago'],
      day: ['# d ago'],
      week: ['# wks ago'],
      month: ['# mos ago'],
      year: ['# yrs ago'],
    },
    now: ['just now', 'now'],
  },
  es: {
    about: ['unos', 'unas', 'aproximadamente', 'cerca de', 'alrededor de'],
    ones: ['un', 'una'],
    now: ['ahora mismo', 'justo ahora'],
    also: { hour: ['hace # hs'] },
    variants: [[/^hace(#.*)$/, '$1 atras']],
  },
  et: {
    about: ['umbes', 'ligikaudu'],
    also: {
      second: ['# sekundit tagasi', '# sekund tagasi'],
      minute: ['# minutit tagasi', '# minut tagasi'],
      hour: ['# tundi tagasi', '# tund tagasi'],
      day: ['# päeva tagasi', '# päev tagasi'],
      week: ['# nädalat tagasi', '# nädal tagasi'],
      month: ['# kuud tagasi', '# kuu tagasi'],
      year: ['# aastat tagasi', '# aasta tagasi'],
    },
    now: ['just nüüd'],
  },
  fa: {
    about: ['حدود', 'حدودا', 'تقریبا'],
    ones: ['یک'],
    variants: [[/پیش$/, 'قبل']],
    now: ['همین حالا', 'هم اکنون'],
  },
  fi: { about: ['noin'], bareOne: true, ones: ['yksi'], now: ['juuri nyt'] },
  fil: {
    ones: ['isang'],
    variants: [
      [/ ?ang nakalipas$/, ' na ang nakalipas'],
      [/ang nakalipas$/, 'nakalipas'],
    ],
    now: ['ngayon lang'],
  },
  fr: { about: ['environ', 'à peu près'], ones: ['un', 'une'], now: ["à l'instant", 'à l’instant même'] },
  he: { about: ['בערך', 'כ-'], now: ['ממש עכשיו', 'זה עתה'] },
  hi: {
    about: ['लगभग', 'करीब'],
    ones: ['एक'],
    also: {
      second: ['# सेकेंड पहले', '# सेकण्ड पहले'],
      hour: ['# घंटा पहले', '# घण्टे पहले', '# घण्टा पहले'],
      week: ['# हफ़्ते पहले', '# हफ़्ता पहले', '# हफ्ते पहले', '# हफ्ता पहले'],
      month: ['# महीने पहले', '# महीना पहले'],
      year: ['# साल पहले'],
    },
    now: ['अभी-अभी'],
  },
  hr: { about: ['oko', 'otprilike'], bareOne: true, now: ['upravo sada'] },
  hu: {
    about: ['körülbelül', 'kb', 'nagyjából'],
    ones: ['egy'],
    also: {
      second: ['# másodperce'],
      minute: ['# perce'],
      hour: ['# órája'],
      day: ['# napja'],
      week: ['# hete'],
      month: ['# hónapja'],
      year: ['# éve'],
    },
    now: ['épp most'],
  },
  id: {
    about: ['sekitar', 'kira-kira'],
    one: {
      minute: ['semenit yang lalu', 'semenit lalu'],
      hour: ['sejam yang lalu', 'sejam lalu'],
      day: ['sehari yang lalu', 'sehari lalu'],
      week: ['seminggu yang lalu', 'seminggu lalu'],
      month: ['sebulan yang lalu', 'sebulan lalu'],
      year: ['setahun yang lalu', 'setahun lalu'],
    },
    variants: [
      [/yang lalu$/, 'lalu'],
      [/yang lalu$/, 'yg lalu'],
    ],
    now: ['baru saja'],
  },
  is: { about: ['um það bil', 'um'], ones: ['einni', 'einum', 'einu'], now: ['rétt í þessu'] },
  it: { about: ['circa'], ones: ["un'", 'un', 'una', 'uno'], now: ['proprio ora'] },
  ja: {
    about: ['約', 'およそ'],
    variants: [
      [/か月前$/, 'ヶ月前'],
      [/か月前$/, 'カ月前'],
      [/か月前$/, 'ヵ月前'],
      [/か月前$/, 'ケ月前'],
    ],
    now: ['たった今', 'たったいま'],
  },
  ko: {
    about: ['약'],
    also: { month: ['# 달 전'], week: ['# 주일 전'] },
    one: { hour: ['한 시간 전'], day: ['하루 전'], month: ['한 달 전'] },
    now: ['방금', '방금 전'],
  },
  lt: { about: ['maždaug', 'apie'], bareOne: true, now: ['ką tik'] },
  lv: { about: ['apmēram', 'aptuveni'], bareOne: true, now: ['tikko'] },
  mr: { about: ['सुमारे'], now: ['आत्ताच'] },
  ms: { about: ['kira-kira', 'sekitar'], variants: [[/lalu$/, 'yang lalu']], now: ['baru sahaja'] },
  nb: {
    about: ['omtrent', 'cirka', 'ca', 'omkring', 'rundt'],
    ones: ['en', 'én', 'ett', 'et', 'ei'],
    variants: [[/^for#/, '#']],
    also: {
      day: ['for # dager siden', 'for # dag siden', '# dager siden', '# dag siden'],
      month: ['for # mnd siden', '# mnd siden'],
    },
    now: ['akkurat nå'],
  },
  nl: {
    about: ['ongeveer', 'circa', 'ca', "zo'n"],
    ones: ['een', 'één'],
    now: ['zojuist'],
    also: { hour: ['# u geleden', '# uren geleden'] },
  },
  pl: {
    about: ['około', 'ok'],
    bareOne: true,
    ones: ['jedną', 'jeden'],
    now: ['właśnie teraz'],
    also: { hour: ['# h temu'] },
    one: { day: ['dnia temu'], week: ['tygodnia temu'], month: ['miesiąca temu'], year: ['roku temu'] },
  },
  pt: {
    about: ['cerca de', 'aproximadamente', 'uns', 'umas'],
    ones: ['um', 'uma'],
    variants: [
      [/^ha(#.*)$/, '$1 atras'],
      [/^ha(#.*)$/, 'ha$1 atras'],
    ],
    now: ['agora mesmo'],
  },
  ro: {
    about: ['circa', 'aproximativ'],
    ones: ['un', 'o'],
    variants: [[/^acum#/, 'in urma cu#']],
    now: ['chiar acum'],
  },
  ru: {
    about: ['около', 'примерно', 'приблизительно'],
    bareOne: true,
    ones: ['один', 'одну'],
    now: ['только что'],
    also: { hour: ['# час. назад'], day: ['# д назад'] },
  },
  sk: {
    about: ['asi', 'približne', 'zhruba', 'cca'],
    bareOne: true,
    now: ['práve teraz'],
    also: { hour: ['pred # hod'] },
  },
  sl: { about: ['približno', 'okoli', 'okrog'], bareOne: true, ones: ['eno', 'enim'], now: ['pravkar'] },
  sr: { about: ['око', 'oko', 'отприлике', 'otprilike'], bareOne: true, now: ['управо сада', 'upravo sada'] },
  sv: {
    about: ['cirka', 'ca', 'ungefär', 'omkring'],
    ones: ['en', 'ett'],
    variants: [[/^for#/, '#']],
    now: ['just nu'],
    also: { hour: ['för # tim sen'] },
  },
  th: {
    about: ['ประมาณ'],
    variants: [
      [/ที่ผ่านมา$/, 'ที่แล้ว'],
      [/ที่ผ่านมา$/, 'ก่อน'],
      [/ที่แล้ว$/, 'ที่ผ่านมา'],
      [/ที่แล้ว$/, 'ก่อน'],
    ],
    now: ['เมื่อสักครู่', 'เมื่อสักครู่นี้', 'เมื่อครู่'],
  },
  tr: { about: ['yaklaşık'], ones: ['bir'], now: ['şu anda'] },
  uk: {
    about: ['близько', 'приблизно'],
    bareOne: true,
    ones: ['один', 'одну'],
    variants: [[/тому$/, 'назад']],
    now: ['щойно'],
  },
  vi: { about: ['khoảng'], ones: ['một'], now: ['vừa xong'] },
  zh: {
    about: ['大约', '大約', '大概', '约', '約'],
    also: {
      hour: ['# 個小時前', '# 个小时前', '# 个钟头前'],
      day: ['# 日前'],
      week: ['# 个星期前', '# 個星期前', '# 星期前', '# 週前', '# 周前'],
      minute: ['# 分前'],
    },
    variants: [
      [/前$/, '以前'],
      [/前$/, '之前'],
    ],
    now: ['刚刚', '剛剛', '刚才', '剛才'],
  },
}
