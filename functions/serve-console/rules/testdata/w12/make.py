"""Makes realistic exports of SmartHR and Google Workspace, and what is meant by them. Sources: see w12_test.go."""
import csv, io, json

E, K, G, S = '営業本部', '管理本部', '技術本部', '製造本部'
TOK, SEN, OSA, FUK = E+'/東日本営業部/東京支店', E+'/東日本営業部/仙台支店', E+'/西日本営業部/大阪支店', E+'/西日本営業部/福岡支店'
EAST, WEST, SEA = E+'/東日本営業部', E+'/西日本営業部', E+'/海外営業部'
S1M, S1Q, S2M, S2Q = S+'/第一工場/製造課', S+'/第一工場/品質保証課', S+'/第二工場/製造課', S+'/第二工場/品質保証課'
SOM, JIN, KEI, SYS = K+'/総務部', K+'/人事部', K+'/経理部', K+'/情報システム部'
DEV, SEK = G+'/開発部', G+'/設計部'

# number, 姓, 名, business 姓, business 名, mail, join, leave, status, kind, posts, today
# today: here, away, left, later; posts: (department, position), the main one first
P = []
def p(no, fam, giv, mail, posts, kind='正社員', status='在職中', join='2015/04/01', leave='', bf='', bg='', today='here', name=None, meant=None):
    P.append(dict(no=no, fam=fam, giv=giv, bf=bf, bg=bg, mail=mail, join=join, leave=leave, status=status, kind=kind,
                  posts=posts, today=today, name=name or (bf or fam)+' '+(bg or giv), meant=meant or 'employee'))

p('0001','青葉','誠一郎','aoba@aoba-seiki.example',[('', '代表取締役社長')],kind='役員',join='1998/04/01')          # no department
p('0002','髙橋','美智子','m.takahashi@aoba-seiki.example',[(K,'専務取締役'),('内部監査室','室長')],kind='役員',join='2001/04/01')
p('0003','渡邉','健','k.watanabe@aoba-seiki.example',[(E,'常務取締役'),(SEA,'部長')],kind='役員',join='2003/04/01')
p('0004','山﨑','修','o.yamazaki@aoba-seiki.example',[(S,'本部長'),(S+'/第二工場','工場長')],join='2000/10/01')
p('0005','Nguyen','Van An','an.nguyen@aoba-seiki.example',[(G,'本部長')],join='2012/07/16',name='Van An Nguyen')
p('0011','伊藤','彩','a.ito@aoba-seiki.example',[('経営企画室','室長')],join='2008/04/01')
p('0012','小林','拓也','t.kobayashi@aoba-seiki.example',[('経営企画室',''),(SYS,''),(JIN,'')],join='2019/04/01')   # three posts without positions
p('0021','加藤','由美','y.kato@aoba-seiki.example',[(SOM,'部長')],join='2004/04/01')
p('0022','吉田','直樹','n.yoshida@aoba-seiki.example',[(SOM+'/総務課','課長')])
p('0023','田中','裕子','y.sato@aoba-seiki.example',[(SOM+'/総務課','')],bf='佐藤',bg='裕子',join='2016/04/01')       # works under her maiden name
p('0024','佐々木','徹','t.sasaki@aoba-seiki.example',[(JIN,'部長')],join='2006/04/01')
p('0025','山口','麻衣','m.yamaguchi@aoba-seiki.example',[(JIN,'主任')],status='休職中',join='2017/04/01',today='away') # on leave
p('0026','松本','大輔','d.matsumoto@aoba-seiki.example',[(KEI,'部長')],join='2005/04/01')
p('0027','井上','沙織','s.inoue@aoba-seiki.example',[(KEI,'係長'),(SOM+'/総務課','')],join='2014/04/01')
p('0028','木村','翔','s.kimura@aoba-seiki.example',[(KEI,'')],join='2026/04/01')
p('0029','林','健太','k.hayashi@aoba-seiki.example',[(SYS,'課長')],join='2011/04/01')
p('0030','Smith','Emily','emily.smith@aoba-seiki.example',[(SYS,'')],kind='契約社員',join='2023/09/01',name='Emily Smith')
p('0031','斎藤','浩二','k.saito@aoba-seiki.example',[(EAST,'部長'),(TOK,'支店長')],join='2002/04/01')
p('0032','清水','遥','h.shimizu@aoba-seiki.example',[(TOK,'課長')],join='2010/04/01')
p('0033','山本','陸','r.yamamoto@aoba-seiki.example',[(TOK,'')],join='2022/04/01')
p('0034','森','千尋','c.mori@aoba-seiki.example',[(SEN,'支店長')],join='2007/04/01')
p('0035','池田','亮','r.ikeda@aoba-seiki.example',[(SEN,'')],join='2018/04/01',leave='2026/12/31')               # leaves next month
p('0036','橋本','真由','m.hashimoto@aoba-seiki.example',[(WEST,'部長')],join='2003/10/01')
p('0037','阿部','隼人','h.abe@aoba-seiki.example',[(OSA,'支店長'),(FUK,'支店長')],join='2009/04/01')
p('0038','石川','恵理','e.ishikawa@aoba-seiki.example',[(OSA,'')],status='退職済',join='2013/04/01',leave='2026/09/30',today='left')
p('0039','山下','剛','t.yamashita@aoba-seiki.example',[(FUK,'主任')],join='2016/10/01')
p('0040','Garcia Lopez','María José','maria.garcia@aoba-seiki.example',[(SEA,'マネージャー')],join='2020/01/06',name='María José Garcia Lopez')
p('0041','王','小明','x.wang@aoba-seiki.example',[(SEA,'')],join='2021/04/01')
p('0051','中島','勇','i.nakajima@aoba-seiki.example',[(S+'/第一工場','工場長')],join='1999/04/01')
p('0052','前田','茂','',[(S1M,'課長')],join='2001/04/01')                                                       # no mail: works in the factory
p('0053','藤田','和也','k.fujita@aoba-seiki.example',[(S1Q,'課長'),(S2Q,'課長')],join='2004/04/01')
p('0054','後藤','美咲','',[(S1M,'班長')],kind='パート',join='2021/06/01')
p('0055','近藤','悟','s.kondo@aoba-seiki.example',[(S2M,'課長代理')],join='2010/10/01')
p('0056','坂本','彰','a.sakamoto@aoba-seiki.example',[(S2M,'')],kind='嘱託社員',join='1982/04/01',leave='2022/03/31') # 定年再雇用: SmartHR keeps the day of the first retirement
p('0057','遠藤','萌','m.endo@aoba-seiki.example',[(S1Q,'')],kind='派遣社員',join='2025/10/01',meant='temporary')
p('0061','青木','慎','s.aoki@aoba-seiki.example',[(DEV,'部長')],join='2005/04/01')
p('0062','西村','怜','r.nishimura@aoba-seiki.example',[(DEV,'')],kind='出向社員',join='2026/04/01')                # seconded to us from 親会社: the word has to be asked
p('0063','福田','優','y.fukuda@aoba-seiki.example',[(DEV,'主任')],status='在職中',join='2012/04/01')
p('0064','太田','晃','a.ota@partner.example',[(SEK,'')],kind='業務委託',join='2024/01/15',meant='contractor')
p('0065','三浦','翼','t.miura@aoba-seiki.example',[(SEK,'係長')],join='2013/04/01')
p('0066','岡本','結衣','y.okamoto@aoba-seiki.example',[(SEK,'')],status='在職中',join='2027/04/01',today='later') # 内定者
p('0067','原','俊','s.hara@aoba-seiki.example',[('','')],status='在職中',join='2026/11/01')                        # not yet placed

H = ['社員番号','姓','名','姓（ヨミガナ）','名（ヨミガナ）','ビジネスネーム：姓','ビジネスネーム：名','ビジネスネーム：姓（ヨミガナ）','ビジネスネーム：名（ヨミガナ）',
 '生年月日','戸籍上の性別','電話番号','メールアドレス','現住所 郵便番号','現住所 都道府県','入社年月日','退職年月日','退職事由','在籍状況','事業所','雇用形態','業務内容']
for i in range(1,11): H += [f'部署{i} 部署', f'役職{i} 役職']
rows = []
for x in P:
    r = {h:'' for h in H}
    r.update({'社員番号':x['no'],'姓':x['fam'],'名':x['giv'],'姓（ヨミガナ）':'テスト','名（ヨミガナ）':'タロウ','ビジネスネーム：姓':x['bf'],'ビジネスネーム：名':x['bg'],
     '生年月日':'1985/05/05','戸籍上の性別':'女','電話番号':'090-0000-0000','メールアドレス':x['mail'],'現住所 郵便番号':'980-0811','現住所 都道府県':'宮城県',
     '入社年月日':x['join'],'退職年月日':x['leave'],'退職事由':'自己都合' if x['leave'] else '','在籍状況':x['status'],'事業所':'本社','雇用形態':x['kind'],'業務内容':'機械の製造、販売'})
    for i,(d,q) in enumerate(x['posts'],1): r[f'部署{i} 部署'], r[f'役職{i} 役職'] = d, q
    rows.append([r[h] for h in H])
def out(name, header, rows, enc, **kw):
    b = io.StringIO(newline=''); w = csv.writer(b, lineterminator=kw.get('end','\r\n')); w.writerow(header); w.writerows(rows)
    open(name,'wb').write(b.getvalue().encode(enc))
out('smarthr_utf8.csv', H, rows, 'utf-8-sig')
sj = [[c.replace('María José','Maria Jose') for c in r] for r in rows]   # Shift_JIS has no í
out('smarthr.csv', H, sj, 'cp932')
for f in ('smarthr.json','smarthr_utf8.json','smarthr_codes.json'): json.dump([dict(no=x['no'],name=x['name'].replace('María José','Maria Jose') if f=='smarthr.json' else x['name'],mail=x['mail'],kind=x['meant'],today=x['today'],
  posts=[('/'.join(filter(None,[d])) or '*')+' '+q for d,q in x['posts']]) for x in P], open(f,'w'), ensure_ascii=False, indent=1)

# With the codes of departments beside their names; and the department master: code, level1 to level10.
paths = []
for x in P:
    for d,_ in x['posts']:
        parts = d.split('/') if d else []
        for n in range(1, len(parts)+1):
            if parts[:n] not in paths: paths.append(parts[:n])
paths.sort(key=lambda q: ['経営企画室','内部監査室',K,E,G,S].index(q[0]))
paths.append([S,'第三工場準備室'])                                        # nobody is there yet
code = {'/'.join(q): 'D%03d' % n for n,q in enumerate(paths,1)}
out('smarthr_departments.csv', ['code']+['level%d'%n for n in range(1,11)], [[code['/'.join(q)]]+q+['']*(10-len(q)) for q in paths], 'utf-8-sig')
HC = H[:22]
for i in range(1,11): HC += [f'部署{i} 部署コード', f'部署{i} 部署', f'役職{i} 役職']
def coded(r):
    y = r[:22]
    for i in range(22, 42, 2): y += [code.get(r[i],''), r[i], r[i+1]]
    return y
out('smarthr_codes.csv', HC, [coded(r) for r in rows], 'utf-8-sig')

# Google Workspace
GH = ("First Name [Required],Last Name [Required],Email Address [Required],Password [Required],Password Hash Function [UPLOAD ONLY],Org Unit Path [Required],"
 "New Primary Email [UPLOAD ONLY],Status [READ ONLY],Last Sign In [READ ONLY],Recovery Email,Home Secondary Email,Work Secondary Email,"
 "Recovery Phone [MUST BE IN THE E.164 FORMAT],Work Phone,Home Phone,Mobile Phone,Work Address,Home Address,Employee ID,Employee Type,Employee Title,Manager Email,"
 "Department,Cost Center,2sv Enrolled [READ ONLY],2sv Enforced [READ ONLY],Building ID,Floor Name,Floor Section,Email Usage [READ ONLY],Drive Usage [READ ONLY],"
 "Photos Usage [READ ONLY],Storage limit [READ ONLY],Storage Used [READ ONLY],Change Password at Next Sign-In,New Status [UPLOAD ONLY],Advanced Protection Program enrollment").split(',')
def google(name, ou, department, number=True, shared=True):
    rows, meant = [], []
    for x in P:
        if not x['mail'] or x['today'] == 'later': continue       # no account
        d, q = x['posts'][0]
        r = {h:'' for h in GH}
        st = {'here':'Active','away':'Suspended','left':'Archived'}[x['today']]
        if x['no'] == '0063': st = 'Suspended'                     # seconded to another company
        r.update({'First Name [Required]':x['bg'] or x['giv'],'Last Name [Required]':x['bf'] or x['fam'],'Email Address [Required]':x['mail'],'Password [Required]':'****',
          'Org Unit Path [Required]':ou(x,d),'Status [READ ONLY]':st,'Last Sign In [READ ONLY]':'2026/11/26 09:12:44' if st=='Active' else 'Never logged in',
          'Recovery Email':'me@private.example','Home Secondary Email':'','Work Secondary Email':'alias.'+x['mail'] if x['no']=='0023' else '','Work Phone':'+81222000000',
          'Employee ID':x['no'] if number else '','Employee Type':x['kind'],'Employee Title':q,'Manager Email':'d.matsumoto@aoba-seiki.example' if d==KEI and q!='部長' else '',
          'Department':department(x,d),'Cost Center':'C100','2sv Enrolled [READ ONLY]':'True','2sv Enforced [READ ONLY]':'True','Building ID':'本社','Email Usage [READ ONLY]':'1.2GB',
          'Drive Usage [READ ONLY]':'3GB','Photos Usage [READ ONLY]':'0.0GB','Storage limit [READ ONLY]':'Unlimited','Storage Used [READ ONLY]':'4.2GB',
          'Change Password at Next Sign-In':'False','Advanced Protection Program enrollment':'False'})
        rows.append([r[h] for h in GH])
        meant.append(dict(no=x['no'] if number else x['mail'],name=x['name'],mail=x['mail'],kind=x['meant'],today='' if st!='Active' else 'here',posts=[(d or '*')+' '+q]))
    if shared:
        for f,l,m in [('総務','代表','info@aoba-seiki.example'),('複合機','第一工場','scan1@aoba-seiki.example')]:
            r = {h:'' for h in GH}
            r.update({'First Name [Required]':f,'Last Name [Required]':l,'Email Address [Required]':m,'Password [Required]':'****','Org Unit Path [Required]':'/共用アカウント','Status [READ ONLY]':'Active','Change Password at Next Sign-In':'False'})
            rows.append([r[h] for h in GH])
    out(name+'.csv', GH, rows, 'utf-8', end='\n')
    json.dump(meant, open(name+'.json','w'), ensure_ascii=False, indent=1)
google('google_units', lambda x,d: '/'+d, lambda x,d: d.split('/')[-1], shared=False)               # units are departments
google('google_shared', lambda x,d: '/'+d, lambda x,d: d.split('/')[-1])                            # and shared mailboxes without an Employee ID
google('google_flat', lambda x,d: '/', lambda x,d: d.replace('/',' / '), shared=False)               # everybody in the top unit, Department counts
google('google_policy', lambda x,d: {'派遣社員':'/社外','業務委託':'/社外'}.get(x['kind'],'/社員'), lambda x,d: d, shared=False) # units are for policies
