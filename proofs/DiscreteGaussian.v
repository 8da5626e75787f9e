(* Discrete Gaussian noise: its rho, for every order above 1 and every finite set of answers. The weights of the whole
   numbers, seen from any real point, add up to at most as much as seen from a whole one: no Fourier series is used, but
   that the kernel exp (- (x - y)^2 / 2 s) is a sum of squares. *)

From Coq Require Import Reals Lra Lia Classical.
From Discreet Require Import Sums.
Open Scope R_scope.

Section Gaussian.

(* The parameter sigma^2. *)
Variable s : R.
Hypothesis s_pos : 0 < s.

Definition g (t : R) : R := exp (- (t * t) / (2 * s)).

Lemma g_pos : forall t, 0 < g t.
Proof. intros t. apply exp_pos. Qed.

Lemma g_even : forall t, g (- t) = g t.
Proof. intros t. unfold g. f_equal. field. lra. Qed.

(* ---- The kernel is a limit of sums of squares ---- *)

Definition partial_exp (K : nat) (t : R) : R := sum_f_R0 (fun i => / INR (fact i) * t ^ i) K.

Lemma partial_exp_converges : forall t, Un_cv (fun K => partial_exp K t) (exp t).
Proof. intros t. unfold exp. destruct (exist_exp t) as [l limit]. exact limit. Qed.

Lemma sum_converges :
  forall n (u : nat -> nat -> R) l,
    (forall i, (i < n)%nat -> Un_cv (u i) (l i)) ->
    Un_cv (fun K => sum n (fun i => u i K)) (sum n l).
Proof.
  induction n as [|n IH]; intros u l each; cbn [sum].
  - intros eps eps0. exists 0%nat. intros K _. unfold R_dist. rewrite Rminus_diag_eq by reflexivity.
    rewrite Rabs_R0. exact eps0.
  - apply CV_plus; [apply IH; intros; apply each; lia|apply each; lia].
Qed.

Lemma scaled_converges : forall c u l, Un_cv u l -> Un_cv (fun K => c * u K) (c * l).
Proof.
  intros c u l cv. apply (CV_mult (fun _ => c) u c l); [|exact cv].
  intros eps eps0. exists 0%nat. intros K _. unfold R_dist. rewrite Rminus_diag_eq by reflexivity.
  rewrite Rabs_R0. exact eps0.
Qed.

Lemma limit_nonneg : forall u l, (forall K, 0 <= u K) -> Un_cv u l -> 0 <= l.
Proof.
  intros u l nonneg cv. destruct (Rle_lt_dec 0 l) as [|neg]; [assumption|].
  destruct (cv (- l) ltac:(lra)) as [K near]. specialize (near K (le_n K)). specialize (nonneg K).
  unfold R_dist in near. rewrite Rabs_right in near; lra.
Qed.

Lemma square_of_sum :
  forall n a, sum n (fun i => sum n (fun j => a i * a j)) = sum n a * sum n a.
Proof.
  intros n a. rewrite <- sum_scal_r. apply sum_ext. intros i _. apply sum_scal.
Qed.

Lemma partial_form_nonneg :
  forall n (w x : nat -> R) K,
    0 <= sum n (fun i => sum n (fun j => w i * w j * partial_exp K (x i * x j / s))).
Proof.
  intros n w x K. induction K as [|K IH].
  - unfold partial_exp. cbn [sum_f_R0].
    rewrite (sum_ext n _ (fun i => sum n (fun j => w i * w j))).
    + rewrite square_of_sum. apply Rle_0_sqr.
    + intros i _. apply sum_ext. intros j _. cbn. field.
  - set (c := / INR (fact (S K)) * / s ^ S K).
    assert (c0 : 0 <= c).
    { unfold c. apply Rmult_le_pos; left; apply Rinv_0_lt_compat.
      - apply INR_fact_lt_0.
      - apply pow_lt. exact s_pos. }
    rewrite (sum_ext n _ (fun i => sum n (fun j => w i * w j * partial_exp K (x i * x j / s))
      + c * sum n (fun j => (w i * x i ^ S K) * (w j * x j ^ S K)))).
    + rewrite sum_plus, sum_scal, (square_of_sum n (fun i => w i * x i ^ S K)).
      pose proof (Rle_0_sqr (sum n (fun i => w i * x i ^ S K))) as sq. unfold Rsqr in sq.
      pose proof (Rmult_le_pos _ _ c0 sq). lra.
    + intros i _. rewrite <- sum_scal, <- sum_plus. apply sum_ext. intros j _.
      change (partial_exp (S K) (x i * x j / s))
        with (partial_exp K (x i * x j / s) + / INR (fact (S K)) * (x i * x j / s) ^ S K).
      unfold Rdiv. rewrite !Rpow_mult_distr, pow_inv. unfold c. ring.
Qed.

Lemma form_nonneg :
  forall n (w x : nat -> R),
    0 <= sum n (fun i => sum n (fun j => w i * w j * exp (x i * x j / s))).
Proof.
  intros n w x. apply (limit_nonneg _ _ (partial_form_nonneg n w x)).
  apply (sum_converges n
    (fun i K => sum n (fun j => w i * w j * partial_exp K (x i * x j / s)))
    (fun i => sum n (fun j => w i * w j * exp (x i * x j / s)))).
  intros i _.
  apply (sum_converges n (fun j K => w i * w j * partial_exp K (x i * x j / s))
    (fun j => w i * w j * exp (x i * x j / s))).
  intros j _. apply scaled_converges, partial_exp_converges.
Qed.

(* With weights z of both signs the kernel's form is at least 0. *)
Lemma kernel_nonneg :
  forall n (z x : nat -> R), 0 <= sum n (fun i => sum n (fun j => z i * z j * g (x i - x j))).
Proof.
  intros n z x. pose proof (form_nonneg n (fun i => z i * g (x i)) x) as form.
  rewrite (sum_ext n _ (fun i => sum n (fun j => z i * g (x i) * (z j * g (x j)) * exp (x i * x j / s)))).
  - exact form.
  - intros i _. apply sum_ext. intros j _.
    replace (g (x i - x j)) with (g (x i) * g (x j) * exp (x i * x j / s)); [ring|].
    unfold g. rewrite <- !exp_plus. f_equal. field. lra.
Qed.

(* ---- Two copies of 0, ..., N - 1, one moved by c ---- *)

Lemma moved_pairs :
  forall N c,
    sum N (fun k => sum N (fun l => g (INR k - INR l - c))) <=
    sum N (fun k => sum N (fun l => g (INR k - INR l))).
Proof.
  intros N c.
  set (z := fun i => if Nat.ltb i N then 1 else -1).
  set (x := fun i => if Nat.ltb i N then INR i else INR (i - N) + c).
  pose proof (kernel_nonneg (N + N) z x) as form.
  assert (zl : forall i, (i < N)%nat -> z i = 1) by (intros i lt; unfold z; destruct (Nat.ltb_spec i N); [reflexivity|lia]).
  assert (zr : forall i, z (N + i)%nat = -1) by (intros i; unfold z; destruct (Nat.ltb_spec (N + i) N); [lia|reflexivity]).
  assert (xl : forall i, (i < N)%nat -> x i = INR i) by (intros i lt; unfold x; destruct (Nat.ltb_spec i N); [reflexivity|lia]).
  assert (xr : forall i, x (N + i)%nat = INR i + c).
  { intros i. unfold x. destruct (Nat.ltb_spec (N + i) N); [lia|]. replace (N + i - N)%nat with i by lia. reflexivity. }
  set (A := sum N (fun k => sum N (fun l => g (INR k - INR l)))) in *.
  set (B := sum N (fun k => sum N (fun l => g (INR k - INR l - c)))) in *.
  assert (B' : sum N (fun k => sum N (fun l => g (INR k + c - INR l))) = B).
  { rewrite sum_swap. unfold B. apply sum_ext. intros k _. apply sum_ext. intros l _.
    rewrite <- g_even. f_equal. ring. }
  rewrite sum_split in form.
  rewrite (sum_ext N _ (fun k => sum N (fun l => g (INR k - INR l)) + -1 * sum N (fun l => g (INR k - INR l - c)))) in form.
  2:{ intros k lt. rewrite sum_split. f_equal.
      - apply sum_ext. intros l lt'. rewrite !zl, !xl by assumption. ring.
      - rewrite <- sum_scal. apply sum_ext. intros l _. rewrite zr, xr. rewrite zl, xl by assumption.
        replace (INR k - (INR l + c)) with (INR k - INR l - c) by ring. ring. }
  rewrite (sum_ext N (fun i => sum (N + N) (fun j => z (N + i)%nat * z j * g (x (N + i)%nat - x j)))
    (fun k => -1 * sum N (fun l => g (INR k + c - INR l)) + sum N (fun l => g (INR k - INR l)))) in form.
  2:{ intros k _. rewrite sum_split. f_equal.
      - rewrite <- sum_scal. apply sum_ext. intros l lt'. rewrite zr, xr. rewrite zl, xl by assumption. ring.
      - apply sum_ext. intros l _. rewrite !zr, !xr. replace (INR k + c - (INR l + c)) with (INR k - INR l) by ring. ring. }
  rewrite !sum_plus, !sum_scal in form. rewrite B' in form. fold A B in form. lra.
Qed.

(* ---- Windows ---- *)

(* The weights of the whole numbers from -M to M, seen from c. *)
Definition window (M : nat) (c : R) : R := sum (2 * M + 1) (fun i => g (INR i - INR M - c)).

Lemma sum_part :
  forall a n m f, (a + n <= m)%nat -> (forall i, (i < m)%nat -> 0 <= f i) ->
    sum n (fun i => f (a + i)%nat) <= sum m f.
Proof.
  intros a n m f le nonneg.
  assert (upto : sum (a + n) f <= sum m f) by (apply sum_mono; assumption).
  rewrite sum_split in upto.
  assert (0 <= sum a f) by (apply sum_nonneg; intros; apply nonneg; lia). lra.
Qed.

Lemma row_above : forall N k, (k <= N)%nat -> sum N (fun l => g (INR k - INR l)) <= window N 0.
Proof.
  intros N k le. unfold window.
  rewrite (sum_ext N _ (fun l => (fun i => g (INR i - INR N - 0)) (N - k + l)%nat)).
  - apply (sum_part (N - k) N (2 * N + 1) (fun i => g (INR i - INR N - 0))); [lia|].
    intros. left. apply g_pos.
  - intros l _. cbv beta. rewrite <- g_even. f_equal. rewrite plus_INR, minus_INR by lia. ring.
Qed.

Lemma row_below :
  forall N M k c, (M <= k)%nat -> (k + M < N)%nat ->
    window M c <= sum N (fun l => g (INR k - INR l - c)).
Proof.
  intros N M k c low high. unfold window. rewrite <- sum_rev.
  rewrite (sum_ext (2 * M + 1) _ (fun i => (fun l => g (INR k - INR l - c)) (k - M + i)%nat)).
  - apply (sum_part (k - M) (2 * M + 1) N (fun l => g (INR k - INR l - c))); [lia|].
    intros. left. apply g_pos.
  - intros i lt. cbv beta. f_equal.
    rewrite plus_INR, (minus_INR k M) by lia. rewrite !minus_INR by lia. rewrite plus_INR, mult_INR. simpl. ring.
Qed.

(* Whatever bounds the weights around a whole number bounds them around any point. *)
Theorem no_point_sees_more :
  forall T, (forall N, window N 0 <= T) -> forall M c, window M c <= T.
Proof.
  intros T bound M c. destruct (Rle_lt_dec (window M c) T) as [|more]; [assumption|exfalso].
  assert (W0 : 0 < window M c) by (apply sum_positive; [lia|intros; apply g_pos]).
  (* (n) rows of window M c are at most n + 2 M rows of T. *)
  assert (rows : forall n, INR n * window M c <= INR (n + 2 * M) * T).
  { intros n. set (N := (n + 2 * M)%nat).
    apply Rle_trans with (sum N (fun k => sum N (fun l => g (INR k - INR l - c)))).
    - rewrite <- sum_const.
      apply Rle_trans with (sum n (fun i => sum N (fun l => g (INR (M + i) - INR l - c)))).
      + apply sum_le. intros i lt. apply row_below; unfold N; lia.
      + apply (sum_part M n N (fun k => sum N (fun l => g (INR k - INR l - c)))); [unfold N; lia|].
        intros. apply sum_nonneg. intros. left. apply g_pos.
    - apply Rle_trans with (sum N (fun k => sum N (fun l => g (INR k - INR l)))); [apply moved_pairs|].
      rewrite <- sum_const. apply sum_le. intros k lt.
      apply Rle_trans with (window N 0); [apply row_above; lia|apply bound]. }
  assert (T0 : 0 <= T).
  { apply Rle_trans with (window 0 0); [|apply bound]. left. apply sum_positive; [lia|intros; apply g_pos]. }
  assert (ratio : 0 < (window M c - T) / (INR (2 * M) * T + 1)).
  { apply Rdiv_lt_0_compat; [lra|]. pose proof (Rmult_le_pos _ _ (pos_INR (2 * M)) T0). lra. }
  destruct (archimed_cor1 _ ratio) as [n [small n0]].
  assert (n1 : 0 < INR n) by (apply lt_0_INR; assumption).
  assert (q : 0 < INR (2 * M) * T + 1) by (pose proof (Rmult_le_pos _ _ (pos_INR (2 * M)) T0); lra).
  apply (Rmult_lt_compat_l (INR n * (INR (2 * M) * T + 1))) in small; [|apply Rmult_lt_0_compat; assumption].
  replace (INR n * (INR (2 * M) * T + 1) * / INR n) with (INR (2 * M) * T + 1) in small by (field; lra).
  replace (INR n * (INR (2 * M) * T + 1) * ((window M c - T) / (INR (2 * M) * T + 1)))
    with (INR n * (window M c - T)) in small by (field; lra).
  specialize (rows n). rewrite plus_INR in rows. lra.
Qed.

(* ---- rho ---- *)

(* The probability of the whole number x with noise around mu, T the sum of all weights. *)
Definition mass (T mu x : R) : R := g (x - mu) / T.

(* The sum of p^a q^(1 - a) over the whole numbers from -M to M. *)
Definition moment (T a mu nu : R) (M : nat) : R :=
  sum (2 * M + 1) (fun i =>
    let x := INR i - INR M in exp (a * ln (mass T mu x) + (1 - a) * ln (mass T nu x))).

(* T is the sum of all weights. *)
Definition total (T : R) : Prop :=
  (forall N, window N 0 <= T) /\ (forall b, (forall N, window N 0 <= b) -> T <= b).

Lemma total_positive : forall T, total T -> 0 < T.
Proof.
  intros T [bound _]. apply Rlt_le_trans with (window 0 0); [|apply bound].
  apply sum_positive; [lia|intros; apply g_pos].
Qed.

Theorem gaussian_rho :
  forall T, total T -> forall a mu nu M,
    moment T a mu nu M <= exp (a * (a - 1) * ((mu - nu) * (mu - nu) / (2 * s))).
Proof.
  intros T tot a mu nu M. pose proof (total_positive T tot) as T0. destruct tot as [bound _].
  set (e := exp (a * (a - 1) * ((mu - nu) * (mu - nu) / (2 * s)))).
  unfold moment.
  rewrite (sum_ext _ _ (fun i => e / T * g (INR i - INR M - (a * mu + (1 - a) * nu)))).
  - rewrite sum_scal. fold (window M (a * mu + (1 - a) * nu)).
    assert (e0 : 0 < e / T) by (apply Rdiv_lt_0_compat; [apply exp_pos|exact T0]).
    pose proof (Rmult_le_compat_l (e / T) _ _ (Rlt_le _ _ e0) (no_point_sees_more T bound M (a * mu + (1 - a) * nu))) as le.
    replace (e / T * T) with e in le by (field; lra). exact le.
  - intros i _. cbv zeta. unfold mass, Rdiv at 1 2.
    rewrite !ln_mult by (try apply g_pos; apply Rinv_0_lt_compat; exact T0).
    rewrite ln_Rinv by exact T0. unfold g at 1 2. rewrite !ln_exp.
    replace (e / T) with (e * exp (- ln T)) by (rewrite exp_Ropp, exp_ln by exact T0; reflexivity).
    unfold e, g. rewrite <- !exp_plus. f_equal. field. lra.
Qed.

(* ---- There is a sum of all weights ---- *)

Lemma window_grows : forall N, window (S N) 0 = window N 0 + 2 * g (INR (S N)).
Proof.
  intros N. unfold window. replace (2 * S N + 1)%nat with (S (S (2 * N + 1))) by lia.
  rewrite sum_first.
  change (sum (S (2 * N + 1)) (fun i => g (INR (S i) - INR (S N) - 0)))
    with (sum (2 * N + 1) (fun i => g (INR (S i) - INR (S N) - 0)) + g (INR (S (2 * N + 1)) - INR (S N) - 0)).
  rewrite (sum_ext _ (fun i => g (INR (S i) - INR (S N) - 0)) (fun i => g (INR i - INR N - 0))).
  2:{ intros i _. f_equal. rewrite !S_INR. ring. }
  replace (INR 0 - INR (S N) - 0) with (- INR (S N)) by (simpl INR; ring).
  rewrite g_even.
  replace (INR (S (2 * N + 1)) - INR (S N) - 0) with (INR (S N)); [ring|].
  rewrite !S_INR, plus_INR, mult_INR. simpl. ring.
Qed.

Lemma g_below : forall t, 0 < t -> g t <= 2 * s / (t * t).
Proof.
  intros t t0. assert (tt : 0 < t * t) by (apply Rmult_lt_0_compat; assumption).
  assert (u0 : 0 < t * t / (2 * s)) by (apply Rdiv_lt_0_compat; lra).
  pose proof (exp_ineq1 _ (Rgt_not_eq _ _ u0)) as more.
  unfold g. replace (- (t * t) / (2 * s)) with (- (t * t / (2 * s))) by (field; lra).
  rewrite exp_Ropp.
  apply Rle_trans with (/ (t * t / (2 * s))); [apply Rinv_le_contravar; lra|].
  right. field. lra.
Qed.

Lemma window_bounded : forall N, window (S N) 0 <= 1 + 8 * s - 4 * s / INR (S N).
Proof.
  induction N as [|N IH].
  - rewrite window_grows. unfold window. cbn [sum Nat.mul Nat.add]. simpl INR.
    pose proof (g_below 1 ltac:(lra)) as one.
    replace (g (0 - 0 - 0)) with 1 by (unfold g; replace (- ((0 - 0 - 0) * (0 - 0 - 0)) / (2 * s)) with 0 by (field; lra); symmetry; apply exp_0).
    replace (2 * s / (1 * 1)) with (2 * s) in one by field. lra.
  - rewrite window_grows. assert (n0 : 0 < INR (S N)) by (apply lt_0_INR; lia).
    rewrite (S_INR (S N)). set (n := INR (S N)) in *.
    pose proof (g_below (n + 1) ltac:(lra)) as last.
    assert (step : 2 * s / ((n + 1) * (n + 1)) <= 2 * s / n - 2 * s / (n + 1)).
    { replace (2 * s / n - 2 * s / (n + 1)) with (2 * s / (n * (n + 1))) by (field; lra).
      apply Rmult_le_compat_l; [lra|]. apply Rinv_le_contravar; [apply Rmult_lt_0_compat; lra|].
      apply Rmult_le_compat_r; lra. }
    replace (4 * s / n) with (2 * (2 * s / n)) in IH by (field; lra).
    replace (4 * s / (n + 1)) with (2 * (2 * s / (n + 1))) by (field; lra). lra.
Qed.

Theorem total_exists : exists T, total T.
Proof.
  destruct (completeness (fun x => exists N, x = window N 0)) as [T [above least]].
  - exists (1 + 8 * s). intros x [N same]. subst x.
    apply Rle_trans with (window (S N) 0).
    + rewrite window_grows. pose proof (g_pos (INR (S N))). lra.
    + pose proof (window_bounded N) as bound.
      assert (0 < 4 * s / INR (S N)) by (apply Rdiv_lt_0_compat; [lra|apply lt_0_INR; lia]). lra.
  - exists (window 0 0), 0%nat. reflexivity.
  - exists T. split.
    + intros N. apply above. exists N. reflexivity.
    + intros b bound. apply least. intros x [N same]. subst x. apply bound.
Qed.

(* ---- No smaller rho ---- *)

Lemma window_moved : forall M c, window M 0 <= window (M + c) (INR c).
Proof.
  intros M c. unfold window.
  rewrite (sum_ext (2 * M + 1) _ (fun i => (fun j => g (INR j - INR (M + c) - INR c)) (2 * c + i)%nat)).
  - apply (sum_part (2 * c) (2 * M + 1) (2 * (M + c) + 1) (fun j => g (INR j - INR (M + c) - INR c))); [lia|].
    intros. left. apply g_pos.
  - intros i _. cbv beta. f_equal. rewrite !plus_INR, mult_INR. simpl. ring.
Qed.

(* At order 2 the sum comes as near to the bound as one likes. *)
Theorem gaussian_rho_is_reached :
  forall T, total T -> forall d r, r < exp (2 * (INR d * INR d / (2 * s))) ->
    exists M, r < moment T 2 (INR d) 0 M.
Proof.
  intros T tot d r less. pose proof (total_positive T tot) as T0. destruct tot as [bound least].
  set (e := exp (2 * (INR d * INR d / (2 * s)))) in *.
  assert (e0 : 0 < e) by apply exp_pos.
  assert (some : exists N, r * T / e < window N 0).
  { apply NNPP. intros none. assert (b : T <= r * T / e).
    { apply least. intros N. apply Rnot_lt_le. intros lt. apply none. exists N. exact lt. }
    apply (Rmult_le_compat_l e) in b; [|lra].
    replace (e * (r * T / e)) with (r * T) in b by (field; lra).
    pose proof (Rmult_lt_compat_r T _ _ T0 less). lra. }
  destruct some as [N more]. exists (N + 2 * d)%nat.
  assert (same : moment T 2 (INR d) 0 (N + 2 * d) = e / T * window (N + 2 * d) (INR (2 * d))).
  { unfold moment, window. rewrite <- sum_scal. apply sum_ext. intros i _. cbv zeta. unfold mass, Rdiv at 1 2.
    rewrite !ln_mult by (try apply g_pos; apply Rinv_0_lt_compat; exact T0).
    rewrite ln_Rinv by exact T0. unfold g at 1 2. rewrite !ln_exp.
    replace (e / T) with (e * exp (- ln T)) by (rewrite exp_Ropp, exp_ln by exact T0; reflexivity).
    unfold e, g. rewrite <- !exp_plus. f_equal. rewrite (mult_INR 2 d). simpl (INR 2). field. lra. }
  rewrite same. pose proof (window_moved N (2 * d)) as moved.
  assert (eT : 0 < e / T) by (apply Rdiv_lt_0_compat; assumption).
  apply Rlt_le_trans with (e / T * window N 0); [|apply Rmult_le_compat_l; lra].
  apply (Rmult_lt_compat_l (e / T)) in more; [|exact eT].
  replace (e / T * (r * T / e)) with r in more by (field; lra). exact more.
Qed.

End Gaussian.

(* ---- Several numbers, each moved by its own d ---- *)

Fixpoint product (n : nat) (f : nat -> R) : R :=
  match n with
  | O => 1
  | S m => product m f * f m
  end.

Theorem gaussian_rho_adds :
  forall s T, 0 < s -> total s T -> forall a n (mu nu : nat -> R) M,
    product n (fun i => moment s T a (mu i) (nu i) M) <=
    exp (a * (a - 1) * sum n (fun i => (mu i - nu i) * (mu i - nu i) / (2 * s))).
Proof.
  intros s T s0 tot a n mu nu M.
  assert (moments : forall i, 0 <= moment s T a (mu i) (nu i) M)
    by (intros i; apply sum_nonneg; intros; left; apply exp_pos).
  induction n as [|n IH]; cbn [product sum].
  - rewrite Rmult_0_r, exp_0. lra.
  - rewrite Rmult_plus_distr_l, exp_plus. apply Rmult_le_compat; [|apply moments|exact IH|apply gaussian_rho; assumption].
    clear IH. induction n as [|n IH]; cbn [product]; [lra|apply Rmult_le_pos; [exact IH|apply moments]].
Qed.

(* ---- The sum of two numbers ---- *)

Lemma weights_of_a_sum :
  forall a b x t, 0 < a -> 0 < b ->
    g a x * g b (t - x) = g (a + b) t * g (a * b / (a + b)) (x - a * t / (a + b)).
Proof.
  intros a b x t a0 b0. unfold g. rewrite <- !exp_plus. f_equal. field. lra.
Qed.

(* The sum of two has at most this weight at t; and as much if a t / (a + b) is a whole number. *)
Theorem sum_at_most :
  forall a b T t M, 0 < a -> 0 < b -> (forall N, window (a * b / (a + b)) N 0 <= T) ->
    sum (2 * M + 1) (fun i => g a (INR i - INR M) * g b (t - (INR i - INR M))) <= g (a + b) t * T.
Proof.
  intros a b T t M a0 b0 bound.
  rewrite (sum_ext _ _ (fun i => g (a + b) t * g (a * b / (a + b)) (INR i - INR M - a * t / (a + b)))).
  - rewrite sum_scal. fold (window (a * b / (a + b)) M (a * t / (a + b))).
    apply Rmult_le_compat_l; [left; apply g_pos|]. apply no_point_sees_more; [|exact bound].
    apply Rdiv_lt_0_compat; [apply Rmult_lt_0_compat; assumption|lra].
  - intros i _. apply weights_of_a_sum; assumption.
Qed.

Theorem sum_reaches :
  forall a b T c t M, 0 < a -> 0 < b -> a * t / (a + b) = INR c ->
    total (a * b / (a + b)) T -> forall r, r < g (a + b) t * T ->
    exists M', (M <= M')%nat /\ r < sum (2 * M' + 1) (fun i => g a (INR i - INR M') * g b (t - (INR i - INR M'))).
Proof.
  intros a b T c t M a0 b0 whole [bound least] r less. set (v := a * b / (a + b)) in *.
  pose proof (g_pos (a + b) t) as G0.
  assert (v0 : 0 < v) by (unfold v; apply Rdiv_lt_0_compat; [apply Rmult_lt_0_compat; assumption|lra]).
  assert (some : exists N, r / g (a + b) t < window v N 0).
  { apply NNPP. intros none. assert (le : T <= r / g (a + b) t).
    { apply least. intros N. apply Rnot_lt_le. intros lt. apply none. exists N. exact lt. }
    apply (Rmult_le_compat_l (g (a + b) t)) in le; [|lra].
    replace (g (a + b) t * (r / g (a + b) t)) with r in le by (field; lra). lra. }
  destruct some as [N more]. exists (N + M + c)%nat. split; [lia|].
  rewrite (sum_ext _ _ (fun i => g (a + b) t * g v (INR i - INR (N + M + c) - INR c))).
  2:{ intros i _. rewrite <- whole. apply weights_of_a_sum; assumption. }
  rewrite sum_scal. fold (window v (N + M + c) (INR c)).
  assert (up : window v N 0 <= window v (N + M + c) (INR c)).
  { apply Rle_trans with (window v (N + M) 0); [|apply window_moved].
    clear - v0. induction M as [|M IH]; [rewrite Nat.add_0_r; lra|].
    replace (N + S M)%nat with (S (N + M)) by lia.
    assert (grow : window v (S (N + M)) 0 = window v (N + M) 0 + 2 * g v (INR (S (N + M)))).
    { apply window_grows. exact v0. }
    rewrite grow. pose proof (g_pos v (INR (S (N + M)))). lra. }
  apply (Rmult_lt_compat_l (g (a + b) t)) in more; [|exact G0].
  replace (g (a + b) t * (r / g (a + b) t)) with r in more by (field; lra).
  apply Rlt_le_trans with (g (a + b) t * window v N 0); [exact more|apply Rmult_le_compat_l; lra].
Qed.
